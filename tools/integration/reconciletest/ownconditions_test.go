package reconciletest

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var accounts = schema.GroupVersionKind{Group: "reconciletest.operkit.dev", Version: "v1", Kind: "Account"}

const account = "{apiVersion: reconciletest.operkit.dev/v1, kind: Account, metadata: {name: mine}, spec: {owner: me}}"

var errDisk = errors.New("the disk is full")

// bank is a controller of accounts with conditions of its own.
type bank struct {
	own   []status.Declared
	setup func(ctx context.Context, s *reconcile.Session) error
}

func (b *bank) Kind() schema.GroupVersionKind { return accounts }

func (b *bank) Conditions() (*status.Declaration, error) { return status.Declare(b.own...) }

func (b *bank) Setup(ctx context.Context, s *reconcile.Session) error { return b.setup(ctx, s) }

// TestOwnConditions runs the same test of conditions of one's own in memory and on a control plane, whose schema has
// the fields of a condition.
func TestOwnConditions(t *testing.T) {
	t.Parallel()
	t.Run("in memory", func(t *testing.T) {
		t.Parallel()
		ownConditions(t, nil, reconciletest.Definitions("testdata/crds"))
	})
	t.Run("on a control plane", func(t *testing.T) {
		t.Parallel()
		env := envtest.Start(t, envtest.CRDs("testdata/crds"))
		ctx, cancel := context.WithCancel(t.Context())
		opened := func(user *cluster.Cluster, err error) *cluster.Cluster {
			require.NoError(t, err)
			t.Cleanup(func() {
				cancel()
				user.Wait()
			})
			return user
		}
		quiet := []cluster.Option{cluster.Namespaces(env.Namespace), cluster.Logger(slog.New(slog.DiscardHandler))}
		operator, other := opened(cluster.New(ctx, env.Config, quiet...)), opened(cluster.New(ctx, env.Admin, quiet...))
		ownConditions(t, other, reconciletest.On(operator, time.Second), reconciletest.Namespace(env.Namespace))
	})
}

// ownConditions is the test. other is another client, nil for that of the cluster in memory.
func ownConditions(t *testing.T, other deploy.Cluster, options ...reconciletest.Option) {
	t.Helper()
	b := &bank{own: []status.Declared{
		{Type: "BackedUp", UpdateTime: true, Errors: []status.ErrorReason{status.ErrorIs(errDisk, "DiskFull")}},
		{Type: "Exported", Reset: true},
	}}
	h := reconciletest.New(t, b, append(options, reconciletest.With(reconcile.StartAfter(0)))...)
	if other == nil {
		other = h.Cluster()
	}
	h.Apply(account)
	ref := deploy.RefOf(h.Get("Account mine"))
	// sees is what the other client sees of the two conditions.
	sees := func() (backup, export string) {
		live, err := other.Port().Get(t.Context(), ref)
		require.NoError(t, err)
		states := map[string]string{}
		for _, c := range status.Conditions(live).List() {
			states[c.Type] = string(c.Status) + " " + c.Reason
		}
		return states["BackedUp"], states["Exported"]
	}
	expect := func(backup, export, reason string) {
		t.Helper()
		gotBackup, gotExport := sees()
		assert.Equal(t, []string{backup, export}, []string{gotBackup, gotExport}, reason)
	}

	b.setup = func(_ context.Context, s *reconcile.Session) error {
		s.Conditions().Set("Exported", metav1.ConditionTrue, "AtNight", "to the other side")
		return nil
	}
	_, err := h.Reconcile("Account mine")
	require.NoError(t, err)
	h.Writes(1)
	expect("Unknown Initializing", "True AtNight", "the first write of the status has both")
	h.RunUntilSettled()
	h.RunUntilSettled()
	assert.Empty(t, h.Calls(), "they settle")
	h.Ready("Account mine")

	b.setup = func(ctx context.Context, s *reconcile.Session) error {
		own := s.Conditions()
		own.Set("BackedUp", metav1.ConditionFalse, "Running", "half of it")
		if err := own.Flush(ctx); err != nil {
			return err
		}
		backup, export := sees()
		assert.Equal(t, "False Running", backup)
		assert.Equal(t, "True AtNight", export, "what isn't reported yet is no news")
		own.Result("BackedUp", nil)
		return nil
	}
	_, err = h.Reconcile("Account mine")
	require.NoError(t, err)
	expect("True Succeeded", "Unknown NotReported", "what was flushed in the middle, and what wasn't reported at the end")
	live := h.Get("Account mine")
	list, _, _ := unstructured.NestedSlice(live.Object, "status", "conditions")
	for _, entry := range list {
		c := entry.(map[string]any)
		assert.Equal(t, c["type"] == "BackedUp", c["lastUpdateTime"] != nil, "%s", c["type"])
	}

	for _, row := range []struct {
		reason string
		ends   func() error
	}{
		{"error", func() error { return errDisk }},
		{"panic", func() error { panic("out of cheese") }},
	} {
		b.setup = func(_ context.Context, s *reconcile.Session) error {
			s.Conditions().Set("Exported", metav1.ConditionTrue, "Before", row.reason)
			s.Conditions().Result("BackedUp", errDisk)
			return row.ends()
		}
		_, err := h.Reconcile("Account mine")
		require.Error(t, err)
		expect("False DiskFull", "True Before", "after an "+row.reason)
		assert.Equal(t, row.reason, h.Condition("Account mine", "Exported").Message)
	}

	manager, err := deploy.NewManager(h.Cluster())
	require.NoError(t, err)
	for want, own := range map[string][]status.Declared{
		"A is declared twice":                {{Type: "A"}, {Type: "A"}},
		"Ready is written by operkit itself": {{Type: "Ready"}},
	} {
		_, err := reconcile.New(&bank{own: own}, manager)
		assert.ErrorContains(t, err, want)
	}
}
