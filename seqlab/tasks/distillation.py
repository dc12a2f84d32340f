"""Distillation: learn from a teacher's predicted distribution as well as from the true tokens (Hinton et al. 2015).

    loss = (1 - w) · -ln p(true) + w · T² · KL(teacher at temperature T ‖ student at temperature T)

w is `task.teacher_weight`. T² makes up for the smaller gradients, so w means the same at every temperature.
"""

from torch import Tensor
from torch.nn.functional import kl_div, log_softmax

from seqlab.data.text.batches import NOT_SCORED


def divergence(student_BTV: Tensor, teacher_BTV: Tensor, targets_BT: Tensor, temperature: float) -> Tensor:
    """T² times the KL divergence, summed over the scored positions."""
    kept_BT = targets_BT != NOT_SCORED
    student_NV, teacher_NV = (log_softmax(logits[kept_BT] / temperature, -1) for logits in (student_BTV, teacher_BTV))
    return temperature**2 * kl_div(student_NV, teacher_NV, reduction="sum", log_target=True)
