"""Every extension point: registered names, and the entry points of other packages."""

from seqlab.registry.plugins import PluginNotAllowed as PluginNotAllowed
from seqlab.registry.plugins import allow_plugin as allow_plugin
from seqlab.registry.plugins import with_plugins as with_plugins
from seqlab.registry.registry import Entry as Entry
from seqlab.registry.registry import Registry as Registry
from seqlab.registry.registry import did_you_mean as did_you_mean
from seqlab.registry.tables import BACKBONES as BACKBONES
from seqlab.registry.tables import CORPORA as CORPORA
from seqlab.registry.tables import MEASURES as MEASURES
from seqlab.registry.tables import METRICS as METRICS
from seqlab.registry.tables import TASKS as TASKS
from seqlab.registry.tables import TOKENIZERS as TOKENIZERS
from seqlab.registry.tables import VIEWS as VIEWS
