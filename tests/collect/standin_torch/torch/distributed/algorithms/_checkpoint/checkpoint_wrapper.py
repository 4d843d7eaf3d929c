from torch.utils.checkpoint import checkpoint as torch_utils_checkpoint
