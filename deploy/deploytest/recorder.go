package deploytest

import (
	"context"
	"slices"
	"sync"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// recorder is a cluster that records the requests of a Manager, in the form "apply ConfigMap settings". If blind is
// set, its View finds no objects by Get.
type recorder struct {
	deploy.Cluster
	blind bool

	mu    sync.Mutex
	calls []string
}

// manager returns a Manager of the cluster, and a recorder of its requests.
func (s *scene) manager(options ...deploy.Option) (*deploy.Manager, *recorder) {
	s.Helper()
	r := &recorder{Cluster: s.Cluster}
	return s.managerOf(r, options...), r
}

func (s *scene) managerOf(cluster deploy.Cluster, options ...deploy.Option) *deploy.Manager {
	s.Helper()
	m, err := deploy.NewManager(cluster, options...)
	s.ok(err)
	return m
}

// asked fails the case unless want has exactly the requests since the last call of take or asked, in any order.
func (s *scene) asked(r *recorder, want ...string) {
	s.Helper()
	got := r.take()
	slices.Sort(got)
	slices.Sort(want)
	s.is(slices.Equal(want, got), "requests: got %q, want %q", got, want)
}

// take returns the requests since the last call of take, in their order.
func (r *recorder) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := r.calls
	r.calls = nil
	return calls
}

func (r *recorder) note(verb string, ref deploy.Ref, dryRun bool) {
	call := verb + " " + ref.Kind.Kind
	if ref.Name != "" {
		call += " " + ref.Name
	}
	if dryRun {
		call += " dry-run"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, call)
}

func (r *recorder) Port() deploy.Port { return recordedPort{r.Cluster.Port(), r} }

func (r *recorder) View() deploy.View {
	if r.blind {
		return blindView{r.Cluster.View()}
	}
	return r.Cluster.View()
}

// blindView shows no objects, like a View that hasn't received them yet.
type blindView struct{ deploy.View }

func (blindView) Get(context.Context, deploy.Ref) (*unstructured.Unstructured, error) {
	return nil, nil //nolint:nilnil // a View returns this for an absent object
}

type recordedPort struct {
	deploy.Port
	recorder *recorder
}

func (p recordedPort) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	p.recorder.note("get", ref, false)
	return p.Port.Get(ctx, ref)
}

func (p recordedPort) List(ctx context.Context, kind schema.GroupVersionKind, namespace string, options deploy.ListOptions) ([]*unstructured.Unstructured, error) {
	p.recorder.note("list", deploy.Ref{Kind: kind}, false)
	return p.Port.List(ctx, kind, namespace, options)
}

func (p recordedPort) Create(ctx context.Context, obj *unstructured.Unstructured, options deploy.CreateOptions) (*unstructured.Unstructured, error) {
	p.recorder.note("create", deploy.RefOf(obj), options.DryRun)
	return p.Port.Create(ctx, obj, options)
}

func (p recordedPort) Update(ctx context.Context, obj *unstructured.Unstructured, options deploy.UpdateOptions) (*unstructured.Unstructured, error) {
	p.recorder.note("update", deploy.RefOf(obj), options.DryRun)
	return p.Port.Update(ctx, obj, options)
}

func (p recordedPort) Apply(ctx context.Context, obj *unstructured.Unstructured, options deploy.ApplyOptions) (deploy.Applied, error) {
	verb := "apply"
	if options.Force {
		verb = "force"
	}
	p.recorder.note(verb, deploy.RefOf(obj), options.DryRun)
	return p.Port.Apply(ctx, obj, options)
}

func (p recordedPort) Patch(ctx context.Context, ref deploy.Ref, patch deploy.PatchRequest) (*unstructured.Unstructured, error) {
	verb := "patch"
	if patch.Subresource != "" {
		verb += " " + patch.Subresource + " of"
	}
	p.recorder.note(verb, ref, patch.DryRun)
	return p.Port.Patch(ctx, ref, patch)
}

func (p recordedPort) Delete(ctx context.Context, ref deploy.Ref, options deploy.DeleteOptions) error {
	p.recorder.note("delete", ref, options.DryRun)
	return p.Port.Delete(ctx, ref, options)
}
