package reconcile_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/operkit/operkit/reconcile"
)

func ExampleOper8Names() {
	reconcileAgain(emptyCluster(), setup(func(_ context.Context, s *reconcile.Session) error {
		name := s.ScopedName(strings.Repeat("a", 60))
		fmt.Println(len(name), name[55:])
		return nil
	}), reconcile.Oper8Names())
	// Output: 63 aaaa783f
}

func ExampleSession_TruncatedName() {
	reconcileAgain(emptyCluster(), setup(func(_ context.Context, s *reconcile.Session) error {
		fmt.Println(s.TruncatedName("short"), s.TruncatedName(strings.Repeat("a", 65))[55:])
		return nil
	}), reconcile.Oper8Names())
	// Output: short aaaa6353
}
