module github.com/operkit/operkit/tools/peers/ratio

go 1.26.0
