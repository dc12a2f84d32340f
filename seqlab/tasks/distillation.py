"""Learning from another model's doubts: what it thinks probable beside what was right (Hinton et al. 2015).

    loss = (1 - mix) · -ln p(right) + mix · T² · KL(teacher at temperature T ‖ student at temperature T)

T² makes up for gradients that are smaller by it, so that `mix` means the same at every temperature.
"""

from torch import Tensor
from torch.nn.functional import kl_div, log_softmax

from seqlab.data.text.batches import NOT_SCORED


def divergence(student_BTV: Tensor, teacher_BTV: Tensor, targets_BT: Tensor, temperature: float) -> Tensor:
    """T² times the summed divergence at the positions that are scored."""
    kept_BT = targets_BT != NOT_SCORED
    student_NV, teacher_NV = (log_softmax(logits[kept_BT] / temperature, -1) for logits in (student_BTV, teacher_BTV))
    return temperature**2 * kl_div(student_NV, teacher_NV, reduction="sum", log_target=True)
