from torch.fsdp2 import make

FSDPState = make()
