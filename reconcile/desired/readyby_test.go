package desired_test

import (
	"context"
	"testing"

	"github.com/operkit/operkit/reconcile/desired"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/status/readiness"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// expecting judges CatHouses by a condition.
func expecting(condition string) readiness.Checker {
	return readiness.Checker{Registry: readiness.Registry{catHouses.GroupKind(): {Condition: &readiness.Condition{Type: condition}}}}
}

func TestReadyBy(t *testing.T) {
	t.Parallel()
	fed := []desired.Option{desired.ReadyBy(expecting("Fed"))}
	for _, row := range []struct {
		reason string
		opts   []desired.Option
		child  []desired.ChildOption
		// env is the default of the environment.
		env readiness.Checker
		// unfed and isFed: whether houses without the condition Fed, and with it, are healthy.
		unfed, isFed bool
	}{
		{reason: "desired 97: without a rule a child that has no conditions is healthy", unfed: true, isFed: true},
		{reason: "desired 97: the option has a rule", opts: fed, isFed: true},
		{reason: "desired 97: the environment has a rule", env: expecting("Fed"), isFed: true},
		{reason: "desired 97: the option is over the environment", opts: fed, env: expecting("Brushed"), isFed: true},
		{
			reason: "desired 97: the environment stays for other kinds", env: expecting("Brushed"),
			opts: []desired.Option{desired.ReadyBy(readiness.Checker{SuspendedJobReady: true})},
		},
		{reason: "desired 97: the later option wins", opts: append(fed, desired.ReadyBy(expecting("Brushed")))},
		{
			reason: "desired 97: a declared condition decides alone", env: expecting("Brushed"),
			child: []desired.ChildOption{desired.Healthy("Fed", metav1.ConditionTrue)}, isFed: true,
		},
	} {
		for feeds, isHealthy := range map[bool]bool{false: row.unfed, true: row.isFed} {
			t.Run(row.reason, func(t *testing.T) {
				t.Parallel()
				c := desired.New(catSets, script{}, append(row.opts, desired.Child(catHouses, desired.RollingInPlace, row.child...))...)
				h := reconciletest.Drive(t, watch.NewController(catSets, func(ctx context.Context, env watch.Env) (watch.Reconciler, error) {
					env.Readiness = row.env
					return c.Reconciler(ctx, env)
				}))
				h.Apply(parent(house("a", 1), house("b", 1)))
				h.RunUntilSettled()
				if feeds {
					feed(h, "a", "")
					feed(h, "b", "")
					h.RunUntilSettled()
				}
				want(h, house("a", 2), house("b", 2))
				_, err := h.Reconcile("CatSet tom")
				require.NoError(t, err)
				second := int64(2) // what isn't healthy waits for nothing
				if isHealthy {
					second = 1
				}
				assert.Equal(t, []any{int64(2), second}, sizesOf(h), "fed: %v", feeds)
			})
		}
	}
}
