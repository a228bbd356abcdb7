module github.com/operkit/operkit/tools/check

go 1.26.0
