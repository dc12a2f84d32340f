"""All settings: their sections, TOML files, `section.key=value`, one-word names, and one resolved form.

A default is written once, in sections.py or in the settings beside a registered class (components.py has their base
classes). Importing this never imports torch, so wrong settings are refused at once. run_settings.py resolves them.
"""

from seqlab.config.components import Activations as Activations
from seqlab.config.components import BackboneSettings as BackboneSettings
from seqlab.config.components import BatchShape as BatchShape
from seqlab.config.components import Component as Component
from seqlab.config.components import ExampleKind as ExampleKind
from seqlab.config.components import Parameters as Parameters
from seqlab.config.components import TaskSettings as TaskSettings
from seqlab.config.components import TokenizerSettings as TokenizerSettings
from seqlab.config.components import VocabSizes as VocabSizes
from seqlab.config.components import number_bytes as number_bytes
from seqlab.config.run_settings import LARGE_VOCABULARY as LARGE_VOCABULARY
from seqlab.config.run_settings import RunSettings as RunSettings
from seqlab.config.run_settings import merge as merge
from seqlab.config.run_settings import resolve as resolve
from seqlab.config.sections import CorpusSettings as CorpusSettings
from seqlab.config.sections import DataSource as DataSource
from seqlab.config.sections import ModelSettings as ModelSettings
from seqlab.config.sections import Settings as Settings
from seqlab.config.sections import TrainSettings as TrainSettings
from seqlab.config.sections import checked as checked
from seqlab.config.sources import build_settings as build_settings
from seqlab.config.sources import each_once as each_once
from seqlab.config.sources import expand_short_names as expand_short_names
from seqlab.config.sources import parse_assignment as parse_assignment
from seqlab.config.sources import read_toml as read_toml
from seqlab.config.sources import source_items as source_items
