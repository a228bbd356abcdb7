module github.com/operkit/operkit/tools/peers/hooks

go 1.26.0
