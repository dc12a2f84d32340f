"""What notebooks and commands call: train, load, resume, build, and the Run that comes out.

run = seqlab.train("my.txt", arch="lstm", steps=200)
print(run.generate("The ", temperature=0.8))
seqlab.load("runs/my-lstm-1").evaluate()
"""

from seqlab.api.calls import build as build
from seqlab.api.calls import export as export
from seqlab.api.calls import load as load
from seqlab.api.calls import quantise as quantise
from seqlab.api.calls import resume as resume
from seqlab.api.calls import train as train
from seqlab.api.run import Evaluated as Evaluated
from seqlab.api.run import Run as Run
from seqlab.api.wanted import Source as Source
from seqlab.api.wanted import wanted_settings as wanted_settings
