package main

import (
	"context"
	"os"
	"testing"

	"github.com/operkit/operkit/operator/full"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/tools/envtest/program"
)

// counting makes the operator say so each time that it reconciles a guestbook.
const counting = "GUESTBOOK_TEST_COUNTING"

func TestMain(m *testing.M) {
	program.Main(func() {
		if os.Getenv(counting) == "" {
			main()
			return
		}
		op := full.New("guestbook-operator")
		op.Control(counted{})
		op.Main()
	})
	os.Exit(m.Run())
}

// counted is a Guestbook that says when it is reconciled.
type counted struct{ Guestbook }

const reconciled = "a guestbook is reconciled"

// Setup implements reconcile.Controller.
func (c counted) Setup(ctx context.Context, s *reconcile.Session) error {
	s.Logger().Info(reconciled)
	return c.Guestbook.Setup(ctx, s)
}
