package main

import (
	"os"
	"testing"

	"github.com/operkit/operkit/tools/envtest/program"
)

func TestMain(m *testing.M) {
	program.Main(main)
	os.Exit(m.Run())
}
