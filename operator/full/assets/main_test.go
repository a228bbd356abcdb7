package assets_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/operator/full/assets"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var widgets = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Widget"}

// repository is one that git makes.
type repository struct {
	t   testing.TB
	dir string
}

// released has the tags 1.0.0 and v1.1.0 and the branches main and 2.0.0, each with another src/text.
func released(t testing.TB) *repository {
	t.Helper()
	r := &repository{t, filepath.Join(t.TempDir(), "source")}
	require.NoError(t, os.MkdirAll(filepath.Join(r.dir, "src"), 0o755))
	r.git("init", "-q", "-b", "main")
	r.commit("one")
	r.git("tag", "1.0.0")
	r.commit("one and a bit")
	r.git("tag", "-a", "-m", "release", "v1.1.0")
	r.git("branch", "2.0.0")
	r.commit("main")
	return r
}

func (r *repository) git(args ...string) string {
	r.t.Helper()
	command := exec.Command("git", append([]string{"-C", r.dir}, args...)...)
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=C", "GIT_COMMITTER_EMAIL=c@example.com")
	out, err := command.CombinedOutput()
	require.NoError(r.t, err, "git %s: %s", strings.Join(args, " "), out)
	return strings.TrimSpace(string(out))
}

// commit commits src/text with this content.
func (r *repository) commit(text string) {
	r.t.Helper()
	require.NoError(r.t, os.WriteFile(filepath.Join(r.dir, "src", "text"), []byte(text), 0o644))
	r.git("add", "-A")
	r.git("commit", "-q", "-m", text)
}

// open opens the versions of the repository, which are checked out by their numbers below the folder that is returned.
func (r *repository) open(change func(o *assets.Options)) (a *assets.Assets, base string, err error) {
	r.t.Helper()
	base = filepath.Join(r.t.TempDir(), "versions")
	options := assets.Options{Repository: r.dir, Destination: base + "/{version}", Directory: "src"}
	if change != nil {
		change(&options)
	}
	a, err = assets.Open(r.t.Context(), options)
	if err == nil {
		r.t.Cleanup(func() {
			// Nothing else can remove what is read-only.
			_, err := a.Prune(context.Background(), func(string) bool { return false })
			require.NoError(r.t, err)
			a.Close()
		})
	}
	return a, base, err
}

// controller calls a function with each session.
type controller struct {
	kind  schema.GroupVersionKind
	setup func(ctx context.Context, s *reconcile.Session) error
}

func (c controller) Kind() schema.GroupVersionKind { return c.kind }

func (c controller) Setup(ctx context.Context, s *reconcile.Session) error { return c.setup(ctx, s) }

// reconciled reconciles a resource that wants a version.
func reconciled(t testing.TB, a *assets.Assets, version any, setup func(ctx context.Context, s *reconcile.Session) error, options ...reconcile.Option) error {
	t.Helper()
	return reconciledAs(t, a, widgets, version, setup, options...)
}

func reconciledAs(t testing.TB, a *assets.Assets, kind schema.GroupVersionKind, version any, setup func(ctx context.Context, s *reconcile.Session) error, options ...reconcile.Option) error {
	t.Helper()
	resource := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "w", "namespace": "shop", "uid": "uid-of-w"}, "spec": map[string]any{"version": version},
	}}
	resource.SetGroupVersionKind(kind)
	memory, err := dryrun.New(dryrun.Schemaless(), dryrun.Objects(resource))
	require.NoError(t, err)
	manager, err := deploy.NewManager(memory)
	require.NoError(t, err)
	r, err := reconcile.New(controller{kind, setup}, manager, append(options, reconcile.WithAssets(a))...)
	require.NoError(t, err)
	_, err = r.Reconcile(t.Context(), request.Request{Key: deploy.Ref{Kind: kind, Namespace: "shop", Name: "w"}})
	return err
}
