"""Attention: score functions, masks, the plain form beside the fast one, multi-head attention, positions.

`from seqlab.attention import scaled_dot` is the textbook formula; it also returns the weights and the scores.
"""

from seqlab.attention.plain import Attended as Attended
from seqlab.attention.plain import attend as attend
from seqlab.attention.plain import scaled_dot as scaled_dot
