module github.com/operkit/operkit/tools/integration

go 1.26.0
