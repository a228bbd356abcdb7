package main

import (
	"context"
	"os"
	"testing"

	"github.com/operkit/operkit/operator/full"
	"github.com/operkit/operkit/reconcile"
)

const (
	// asOperator makes the test binary the operator: a test starts and kills it as a process of
	// its own without building another program.
	asOperator = "GUESTBOOK_TEST_AS_OPERATOR"
	// counting makes that operator say so each time that it reconciles a guestbook.
	counting = "GUESTBOOK_TEST_COUNTING"
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(counting) != "":
		op := full.New("guestbook-operator")
		op.Control(counted{})
		op.Main()
	case os.Getenv(asOperator) != "":
		main()
	default:
		os.Exit(m.Run())
	}
}

// counted is a Guestbook that says when it is reconciled.
type counted struct{ Guestbook }

const reconciled = "a guestbook is reconciled"

// Setup implements reconcile.Controller.
func (c counted) Setup(ctx context.Context, s *reconcile.Session) error {
	s.Logger().Info(reconciled)
	return c.Guestbook.Setup(ctx, s)
}
