from backends.sending import GRPC, JSON, PROTOBUF
PROTOCOLS = {"collector": (GRPC, PROTOBUF, JSON), "jaeger": (GRPC, PROTOBUF, JSON), "phoenix": (GRPC, PROTOBUF), "mlflow": (PROTOBUF, JSON)}
SERVERS = {"collector": {n: {} for n in ("json", "proto", "json-zstd", "proto-zstd")}, "jaeger": {"v3 raw": {}, "v3": {}, "classic": {}}, "phoenix": {"spans": {}}, "mlflow": {"artifact": {}}}
