package main

import (
	"os"
	"testing"
)

// asOperator makes the test binary the operator: a test starts and kills it as a process of its own without building another
// program.
const asOperator = "WEBAPP_TEST_AS_OPERATOR"

func TestMain(m *testing.M) {
	if os.Getenv(asOperator) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}
