package manifest

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// setup is a controller made of a function.
type setup func(s *reconcile.Session)

func (setup) Kind() schema.GroupVersionKind { return shops }

func (f setup) Setup(_ context.Context, s *reconcile.Session) error { f(s); return nil }

// build is a Builder made of a function.
type build func(c *reconcile.Component) error

func (f build) Build(_ context.Context, _ *reconcile.Session, c *reconcile.Component) error {
	return f(c)
}

// market is a cluster with the shop market/tea.
type market struct {
	t       *testing.T
	cluster *dryrun.Cluster
	logs    bytes.Buffer
}

func newMarket(t *testing.T) *market {
	t.Helper()
	cluster, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(object(t, "{apiVersion: example.dev/v1, kind: Shop, metadata: {name: tea, namespace: market}}")))
	require.NoError(t, err)
	return &market{t: t, cluster: cluster}
}

// reconcile reconciles the shop as a real operator would.
func (m *market) reconcile(d *Directory, f setup, options ...reconcile.Option) {
	m.t.Helper()
	options = append(options, reconcile.ObserveComponents(d.Observe), reconcile.Logger(slog.New(slog.NewTextHandler(&m.logs, nil))))
	manager, err := deploy.NewManager(m.cluster)
	require.NoError(m.t, err)
	reconciler, err := reconcile.New(f, manager, options...)
	require.NoError(m.t, err)
	// What fails is in the status; here only the files count.
	_, _ = reconciler.Reconcile(m.t.Context(), request.Request{Key: deploy.Ref{Kind: shops, Namespace: "market", Name: "tea"}})
}

func TestObserve(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := open(t, dir)
	m := newMarket(t)
	here := filepath.Join(dir, "example.dev.v1.shop", "market", "tea")
	m.reconcile(d, func(s *reconcile.Session) {
		store := s.Add("store", secret(t), settings(t, "shelf"))
		s.Add("door", settings(t, "door")).After(store)
		s.Add("attic", settings(t, "attic")).Disable()
	})
	assert.Equal(t, []string{"door/tea-door.k8s.yaml", "store/tea-store.k8s.yaml"}, files(t, here), "reconcile 17: disabled ones only when asked")
	text := content(t, here, "store", "tea-store.k8s.yaml")
	assert.Equal(t, "---\n# store: Secret/key (values masked)\napiVersion: v1\ndata:\n  a: "+masked64+"\n  b: "+masked64+
		"\nkind: Secret\nmetadata:\n  name: key\n  namespace: market\nstringData:\n  c: (masked)\n---\n# store: ConfigMap/shelf\napiVersion: v1\n"+
		"kind: ConfigMap\nmetadata:\n  name: shelf\n  namespace: market\n", text, "with the namespace, and nothing that only the cluster knows")

	for _, row := range []struct {
		reason string
		setup  setup
		want   []string
	}{
		{"a component that is no more", func(s *reconcile.Session) { s.Add("store", settings(t, "shelf")) }, []string{"store"}},
		{"one that can't be rendered keeps its file", func(s *reconcile.Session) {
			s.Use("store", build(func(*reconcile.Component) error { return errors.New("no template") }))
			s.Add("door", settings(t, "door"))
		}, []string{"door", "store"}},
		{"one that waits keeps its file", func(s *reconcile.Session) {
			store := s.Use("store", build(func(*reconcile.Component) error { return request.Precondition("not yet") }))
			s.Add("door", settings(t, "door")).After(store)
		}, []string{"door", "store"}},
		{"one that has no objects any more", func(s *reconcile.Session) {
			s.Add("store")
			s.Add("door", settings(t, "door"))
		}, []string{"door"}},
		{"one that is disabled now", func(s *reconcile.Session) {
			s.Add("store", settings(t, "shelf"))
			s.Add("door", settings(t, "door")).Disable()
		}, []string{"store"}},
	} {
		m.reconcile(d, row.setup)
		var want []string
		for _, name := range row.want {
			want = append(want, name+"/tea-"+name+".k8s.yaml")
		}
		assert.Equal(t, want, files(t, here), "reconcile 17: "+row.reason)
	}

	all := open(t, dir, Disabled())
	m.reconcile(all, func(s *reconcile.Session) { s.Add("door", settings(t, "door")).Disable() })
	assert.Equal(t, []string{"DISABLED/door/tea-door.k8s.yaml"}, files(t, here))
	assert.Contains(t, content(t, here, "DISABLED", "door", "tea-door.k8s.yaml"), "  namespace: market\n")
	m.reconcile(all, func(s *reconcile.Session) { s.Add("door", settings(t, "door")) })
	assert.Equal(t, []string{"door/tea-door.k8s.yaml"}, files(t, here))
}

func TestObserveComplainsOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "example.dev.v1.shop"), []byte("in the way"), 0o600))
	d := open(t, dir)
	m := newMarket(t)
	var set setup = func(s *reconcile.Session) { s.Add("door", settings(t, "door")) }
	for range 3 {
		m.reconcile(d, set)
	}
	assert.Equal(t, 1, strings.Count(m.logs.String(), `msg="the rendered component can't be written"`), m.logs.String())
	assert.Contains(t, m.logs.String(), "manifests: Shop market/tea: component door: ")
	require.NoError(t, os.Remove(filepath.Join(dir, "example.dev.v1.shop")))
	m.reconcile(d, set)
	assert.Len(t, files(t, dir), 1)
	assert.Empty(t, d.complained)
}

// What a dry run shows is what a real rollout leaves, save for values that are only made when they are deployed.
func TestOfIsTheSameInADryRun(t *testing.T) {
	t.Parallel()
	var set setup = func(s *reconcile.Session) {
		door := settings(t, "door")
		door.Object["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "y"}}
		door.Object["metadata"].(map[string]any)["creationTimestamp"] = nil
		door.Object["status"] = map[string]any{}
		s.Add("door", door)
	}
	var texts []string
	for _, options := range [][]reconcile.Option{nil, {reconcile.DryRun()}} {
		dir := t.TempDir()
		m := newMarket(t)
		m.reconcile(open(t, dir), set, options...)
		texts = append(texts, content(t, dir, "example.dev.v1.shop", "market", "tea", "door", "tea-door.k8s.yaml"))
	}
	assert.Equal(t, texts[0], texts[1])
	assert.Equal(t, "---\n# door: ConfigMap/door\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: door\n  namespace: market\n", texts[0])
}
