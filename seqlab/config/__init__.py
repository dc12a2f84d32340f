"""All settings: their sections, TOML files, `section.key=value`, one-word names, and one resolved form.

A default is written once, in sections.py or in the Settings that stand beside a registered class. Importing this never
imports torch, so that wrong settings are refused at once. Read frame.py for how a run's settings come together.
"""

from seqlab.config.run_settings import Component as Component
from seqlab.config.run_settings import RunSettings as RunSettings
from seqlab.config.run_settings import VocabSizes as VocabSizes
from seqlab.config.run_settings import merge as merge
from seqlab.config.run_settings import resolve as resolve
from seqlab.config.sections import CorpusSettings as CorpusSettings
from seqlab.config.sections import ModelSettings as ModelSettings
from seqlab.config.sections import NoSettings as NoSettings
from seqlab.config.sections import Settings as Settings
from seqlab.config.sections import Source as Source
from seqlab.config.sections import TrainSettings as TrainSettings
from seqlab.config.sections import checked as checked
from seqlab.config.sources import expand_short_names as expand_short_names
from seqlab.config.sources import gather as gather
from seqlab.config.sources import parse_assignment as parse_assignment
from seqlab.config.sources import read_toml as read_toml
