mkdir 模型 && cp samples/big_none.rank0.json.zst 模型/模型模型模型模型模型模型模型模型模型.rank0.json.zst
COLUMNS=50 inquest info 模型
