package desired_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/operkit/operkit/reconcile/desired"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var secrets = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}

// childKinds are the kinds of children of a life.
var childKinds = []schema.GroupVersionKind{configMaps, services, accounts}

// script is a Syncer that wants what its parent says: spec.children are the children, and their number is the status.
type script struct {
	// also changes the answer, if it isn't nil.
	also func(r desired.Request[desired.Unstructured], response *desired.Response) error
	// synced counts the calls.
	synced *int
}

func (s script) Sync(r desired.Request[desired.Unstructured]) (response desired.Response, err error) {
	if s.synced != nil {
		*s.synced++
	}
	spec, _ := r.Parent.Object["spec"].(map[string]any)
	list, _ := spec["children"].([]any)
	response.Children = list
	response.Status = map[string]any{"children": r.Children.Len()}
	if s.also != nil {
		err = s.also(r, &response)
	}
	return response, err
}

// parent returns the parent that wants children.
func parent(children ...any) *unstructured.Unstructured {
	p := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"children": append([]any{}, children...)}}}
	p.SetGroupVersionKind(catSets)
	p.SetName("tom")
	return p
}

// want makes the parent want other children.
func want(h *reconciletest.Harness, children ...any) {
	h.Edit("CatSet tom", func(p *unstructured.Unstructured) {
		p.Object["spec"] = map[string]any{"children": append([]any{}, children...)}
	})
}

// configMap is a wanted ConfigMap, with values for keys in the form key=value.
func configMap(name string, values ...string) map[string]any {
	data := map[string]any{}
	for _, one := range values {
		key, value, _ := strings.Cut(one, "=")
		data[key] = value
	}
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}, "data": data}
}

// pod is a wanted Pod.
func pod(name, image string) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": name},
		"spec": map[string]any{"containers": []any{map[string]any{"name": "cat", "image": image}}},
	}
}

// drive returns a harness with a controller of script.
func drive(t *testing.T, s desired.Syncer[desired.Unstructured], opts ...desired.Option) *reconciletest.Harness {
	t.Helper()
	return reconciletest.Drive(t, desired.New(catSets, s, opts...))
}

// writes returns the writes of the latest run, each as in "created Pod a".
func writes(h *reconciletest.Harness) (all []string) {
	for _, call := range h.Calls() {
		if call.Write() {
			all = append(all, strings.ReplaceAll(call.String(), " test/", " "))
		}
	}
	return all
}

// settles asserts that a run makes these writes, and the next one none.
func settles(t *testing.T, h *reconciletest.Harness, reason string, want ...string) {
	t.Helper()
	h.RunUntilSettled()
	if len(want) == 0 {
		assert.Empty(t, writes(h), reason)
		return
	}
	assert.ElementsMatch(t, want, writes(h), reason)
	h.RunUntilSettled()
	assert.Empty(t, writes(h), "it is settled: %s", reason)
}

// statusOf returns the status of the parent.
func statusOf(h *reconciletest.Harness) map[string]any {
	status, _ := h.Get("CatSet tom").Object["status"].(map[string]any)
	return status
}

// reporter reports errors in the status.
type reporter struct{ script }

func (reporter) Failed(_ desired.Request[desired.Unstructured], err error) any {
	return map[string]any{"error": err.Error()}
}

// teardown finalizes: it keeps the children until the parent has the annotation free.
type teardown struct {
	script
	keep func(r desired.Request[desired.Unstructured]) []any
}

func (s teardown) Finalize(r desired.Request[desired.Unstructured]) (response desired.Response, err error) {
	response.Status = map[string]any{"phase": "ending", "children": r.Children.Len()}
	response.Children = s.keep(r)
	response.Finalized = r.Parent.GetAnnotations()["free"] != ""
	return response, nil
}

// adopter adopts orphans with the label cat.
type adopter struct{ script }

func (adopter) Adopts(_ context.Context, p *desired.Unstructured) (*metav1.LabelSelector, error) {
	switch label := p.GetLabels()["adopts"]; label {
	case "":
		return nil, errors.New("no label")
	case "all":
		return &metav1.LabelSelector{}, nil
	default:
		return &metav1.LabelSelector{MatchLabels: map[string]string{"cat": label}}, nil
	}
}

// relater depends on Secrets.
type relater struct {
	selections []desired.Selection
}

func (s relater) Related(context.Context, *desired.Unstructured) ([]desired.Selection, error) {
	return s.selections, nil
}

func (s relater) Sync(r desired.Request[desired.Unstructured]) (desired.Response, error) {
	var names []string
	for _, secret := range r.Related.Of(secrets) {
		names = append(names, secret.GetName())
	}
	return desired.Response{Status: map[string]any{"secrets": strings.Join(names, ",")}}, nil
}

// controllerRevisions is the kind of the objects that hold revisions.
var controllerRevisions = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "ControllerRevision"}

// revisionsOf returns the objects that hold revisions.
func revisionsOf(h *reconciletest.Harness) []*unstructured.Unstructured {
	found, err := h.Cluster().View().List(context.Background(), controllerRevisions, "", nil)
	if err != nil {
		panic(err)
	}
	return found
}

// updated returns the condition Updated of the parent.
func updated(h *reconciletest.Harness) string {
	found, _ := status.Conditions(h.Get("CatSet tom")).Get("Updated")
	return strings.Join([]string{string(found.Status), found.Reason, found.Message}, " ")
}
