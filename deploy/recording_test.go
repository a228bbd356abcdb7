package deploy_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// recording is a cluster that writes down every request, and can be told to answer some of
// them otherwise.
type recording struct {
	deploy.Cluster
	memory *dryrun.Cluster
	shown  *shown
	// before is asked with each call; its error is the answer.
	before func(call string) error
	// after is asked with each apply, creation and deletion that was carried out; its error is the answer.
	after func(call string) error
	// unserved tells that a kind isn't served now.
	unserved func(kind string) bool
	// deleting is told with what options a deletion is asked for.
	deleting func(deploy.DeleteOptions)
	// blind makes reads of the View answer as if there were nothing.
	blind bool
	// stale is what a staleCluster shows for every object.
	stale *unstructured.Unstructured

	mu    sync.Mutex
	calls []string
	sent  []*unstructured.Unstructured
}

func (r *recording) Port() deploy.Port { return recordingPort{r, r.Cluster.Port()} }

func (r *recording) View() deploy.View { return recordingView{r.Cluster.View(), r} }

// take returns the calls since it was last called.
func (r *recording) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := r.calls
	r.calls, r.sent = nil, nil
	return calls
}

// applied returns what the last apply sent.
func (r *recording) applied(t testing.TB) *unstructured.Unstructured {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	require.NotEmpty(t, r.sent)
	return r.sent[len(r.sent)-1]
}

func (r *recording) get(t testing.TB, ref deploy.Ref) *unstructured.Unstructured {
	t.Helper()
	obj, err := r.memory.View().Get(t.Context(), ref)
	require.NoError(t, err)
	return obj.DeepCopy()
}

// edit is a merge patch by somebody else.
func (r *recording) edit(t testing.TB, ref deploy.Ref, body string) {
	t.Helper()
	_, err := r.memory.Port().Patch(t.Context(), ref, deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(body), FieldManager: "kubectl"})
	require.NoError(t, err)
}

func (r *recording) note(call string) error {
	r.mu.Lock()
	r.calls = append(r.calls, call)
	r.mu.Unlock()
	if r.before == nil {
		return nil
	}
	return r.before(call)
}

type recordingPort struct {
	*recording
	deploy.Port
}

func (p recordingPort) Scope(ctx context.Context, kind schema.GroupVersionKind) (deploy.Scope, error) {
	if kind.Kind == "Unknown" || p.unserved != nil && p.unserved(kind.Kind) {
		return "", &deploy.KindUnknownError{Kind: kind}
	}
	return p.Port.Scope(ctx, kind)
}

func (p recordingPort) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	if err := p.note("get " + ref.String()); err != nil {
		return nil, err
	}
	return p.Port.Get(ctx, ref)
}

func (p recordingPort) Apply(ctx context.Context, obj *unstructured.Unstructured, options deploy.ApplyOptions) (deploy.Applied, error) {
	call := "apply " + deploy.RefOf(obj).String()
	if options.Force {
		call += " force"
	}
	if options.DryRun {
		call += " dry-run"
	}
	p.mu.Lock()
	p.sent = append(p.sent, obj.DeepCopy())
	p.mu.Unlock()
	if err := p.note(call); err != nil {
		return deploy.Applied{}, err
	}
	applied, err := p.Port.Apply(ctx, obj, options)
	if err == nil && p.after != nil {
		err = p.after(call)
	}
	return applied, err
}

func (p recordingPort) Create(ctx context.Context, obj *unstructured.Unstructured, options deploy.CreateOptions) (*unstructured.Unstructured, error) {
	call := "create " + deploy.RefOf(obj).String()
	if options.DryRun {
		call += " dry-run"
	}
	if err := p.note(call); err != nil {
		return nil, err
	}
	made, err := p.Port.Create(ctx, obj, options)
	if err == nil && p.after != nil {
		err = p.after(call)
	}
	return made, err
}

func (p recordingPort) List(ctx context.Context, kind schema.GroupVersionKind, namespace string, options deploy.ListOptions) ([]*unstructured.Unstructured, error) {
	if err := p.note(strings.TrimSpace("list " + kind.Kind + " " + namespace)); err != nil {
		return nil, err
	}
	return p.Port.List(ctx, kind, namespace, options)
}

func (p recordingPort) Update(ctx context.Context, obj *unstructured.Unstructured, options deploy.UpdateOptions) (*unstructured.Unstructured, error) {
	if err := p.note("update " + deploy.RefOf(obj).String()); err != nil {
		return nil, err
	}
	return p.Port.Update(ctx, obj, options)
}

func (p recordingPort) Patch(ctx context.Context, ref deploy.Ref, patch deploy.PatchRequest) (*unstructured.Unstructured, error) {
	call := "patch " + ref.String()
	if patch.Subresource != "" {
		call += " " + patch.Subresource
	}
	if err := p.note(call + " " + string(patch.Body)); err != nil {
		return nil, err
	}
	return p.Port.Patch(ctx, ref, patch)
}

func (p recordingPort) Delete(ctx context.Context, ref deploy.Ref, options deploy.DeleteOptions) error {
	call := "delete " + ref.String() + " " + string(options.UID)
	if options.DryRun {
		call += " dry-run"
	}
	if err := p.note(call); err != nil {
		return err
	}
	if p.deleting != nil {
		p.deleting(options)
	}
	err := p.Port.Delete(ctx, ref, options)
	if err == nil && p.after != nil {
		err = p.after(call)
	}
	return err
}

type recordingView struct {
	deploy.View
	recording *recording
}

func (v recordingView) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	if v.recording.blind {
		return nil, nil
	}
	obj, err := v.View.Get(ctx, ref)
	v.recording.shown.saw(obj)
	return obj, err
}

// failing answers the calls that begin with prefix with err, once for each given error.
func failing(prefix string, errs ...error) func(string) error {
	var mu sync.Mutex
	return func(call string) error {
		mu.Lock()
		defer mu.Unlock()
		if len(errs) == 0 || !strings.HasPrefix(call, prefix) {
			return nil
		}
		err := errs[0]
		errs = errs[1:]
		return err
	}
}

func (v recordingView) List(ctx context.Context, kind schema.GroupVersionKind, namespace string, selector labels.Selector) ([]*unstructured.Unstructured, error) {
	if kind.Kind == "Unknown" {
		return nil, &deploy.KindUnknownError{Kind: kind}
	}
	objects, err := v.View.List(ctx, kind, namespace, selector)
	for _, obj := range objects {
		v.recording.shown.saw(obj)
	}
	return objects, err
}
