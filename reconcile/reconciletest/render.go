package reconciletest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Rendered is a component as it would be deployed.
type Rendered struct {
	// Component is the name of the component.
	Component string
	// Disabled: its objects would be deleted.
	Disabled bool
	// Objects are in the order of their deployment. Namespaced objects without a namespace have the resource's.
	Objects []*unstructured.Unstructured
}

// renderNamespace replaces the namespace of the harness in rendered objects, so that the result is the same on every
// cluster.
const renderNamespace = "test"

// Render returns the components of a resource, sorted by name, as a first rollout would deploy them. It does a dry run
// on a separate cluster that has only the objects that the test itself has applied; the harness's cluster isn't
// changed. All gates are open, and values of reconcile.Session.Generated are placeholders. Render applies temporary
// patches that the test has applied and that are recorded on the resource. An error, or a resource that the test hasn't
// applied, fails the test. For a resource that is being deleted Render returns the components that Finalize adds.
func (h *Harness) Render(resource string) []Rendered {
	h.t.Helper()
	rendered, err := h.render(h.t.Context(), h.find(resource))
	if err != nil {
		h.t.Fatalf("reconciletest: render %s: %v", resource, err)
	}
	return rendered
}

func (h *Harness) render(ctx context.Context, ref deploy.Ref) ([]Rendered, error) {
	controller, err := h.controllerOf(ref)
	if err != nil {
		return nil, err
	}
	scratch, err := h.scratch(ctx, ref)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var rendered []Rendered
	observe := func(c *reconcile.Component, _ deploy.Results) {
		mu.Lock()
		defer mu.Unlock()
		rendered = append(rendered, Rendered{c.Name(), c.Disabled(), copies(c.Objects())})
	}
	manager, err := deploy.NewManager(alike{scratch, h.cluster.Port()}, h.options.manager...)
	if err != nil {
		return nil, err
	}
	patches, err := h.newPatching(manager)
	if err != nil {
		return nil, err
	}
	options := slices.Concat(h.options.reconciler, patches.options(), []reconcile.Option{
		reconcile.Clock(h.clock.now), reconcile.DryRun(), reconcile.ObserveComponents(observe),
	})
	reconciler, err := reconcile.New(controller, manager, options...)
	if err != nil {
		return nil, err
	}
	key := deploy.Ref{Kind: ref.Kind, Namespace: h.inRender(ref.Namespace), Name: ref.Name}
	found, err := scratch.View().Get(ctx, key)
	if found == nil && err == nil {
		err = errors.New("the test hasn't applied it, or has deleted it")
	}
	if err != nil {
		return nil, err
	}
	_, err = reconciler.Reconcile(ctx, request.Request{Key: key})
	slices.SortFunc(rendered, func(a, b Rendered) int { return strings.Compare(a.Component, b.Component) })
	return rendered, err
}

// scratch returns a cluster with the present state of the objects that the test has applied. It leaves out objects that
// are being deleted, except the resource.
func (h *Harness) scratch(ctx context.Context, resource deploy.Ref) (*dryrun.Cluster, error) {
	var objects []*unstructured.Unstructured
	var clusterScoped []schema.GroupKind
	for ref := range h.applied {
		obj, err := h.cluster.View().Get(ctx, ref)
		if err != nil {
			return nil, err
		}
		if obj == nil || obj.GetDeletionTimestamp() != nil && ref != resource {
			continue
		}
		if ref.Namespace == "" {
			clusterScoped = append(clusterScoped, ref.Kind.GroupKind())
		}
		obj = obj.DeepCopy()
		obj.SetNamespace(h.inRender(obj.GetNamespace()))
		if obj.GetNamespace() == "" {
			unstructured.RemoveNestedField(obj.Object, "metadata", "namespace")
		}
		objects = append(objects, obj)
	}
	return dryrun.New(dryrun.AnyKind(clusterScoped...), dryrun.Clock(h.clock.now), dryrun.Objects(objects...))
}

func (h *Harness) inRender(namespace string) string {
	if namespace == h.options.namespace {
		return renderNamespace
	}
	return namespace
}

func copies(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	out := make([]*unstructured.Unstructured, len(objects))
	for i, obj := range objects {
		out[i] = obj.DeepCopy()
	}
	return out
}

func init() {
	// If another package has defined the flag, its flag is used.
	if flag.Lookup("update") == nil {
		flag.Bool("update", false, "write golden files instead of comparing with them")
	}
}

// updating reports whether golden files are to be written.
func updating() bool {
	update := flag.Lookup("update")
	if update == nil {
		return false
	}
	value, ok := update.Value.(flag.Getter)
	return ok && value.Get() == true
}

// Golden compares what Render returns for a resource with the file testdata/<file>.yaml of the test's package, and
// fails the test where they differ. With the flag -update (go test . -update) the file is written instead; a test
// package that defines this flag itself must check flag.Lookup first. Values of Secrets are written in plain text.
func (h *Harness) Golden(resource, file string) {
	h.t.Helper()
	rendered, err := h.render(h.t.Context(), h.find(resource))
	if err != nil {
		h.t.Fatalf("reconciletest: golden %s: render %s: %v", file, resource, err)
	}
	var text strings.Builder
	for _, component := range rendered {
		if err := component.write(&text); err != nil {
			h.t.Fatalf("reconciletest: golden %s: %v", file, err)
		}
	}
	if len(rendered) == 0 {
		text.WriteString("# no components\n")
	}
	path := filepath.Join("testdata", file+".yaml")
	if h.update() {
		if err := write(path, text.String()); err != nil {
			h.t.Fatalf("reconciletest: golden %s: %v", file, err)
		}
		return
	}
	want, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		h.t.Errorf("%s: doesn't exist: run the test with -update to write it", path)
	case err != nil:
		h.t.Fatalf("reconciletest: golden %s: %v", file, err)
	case strings.ReplaceAll(string(want), "\r\n", "\n") != text.String():
		h.t.Errorf("%s: differs from what %s renders now: if that is right, run the test with -update:\n%s",
			path, resource, difference(string(want), text.String()))
	}
}

func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

func (r Rendered) write(out *strings.Builder) error {
	title := "# component " + r.Component
	if r.Disabled {
		title += " (disabled)"
	}
	if len(r.Objects) == 0 {
		fmt.Fprintf(out, "---\n%s: no objects\n", title)
	}
	for _, obj := range r.Objects {
		text, err := yamlOf(obj)
		if err != nil {
			return fmt.Errorf("%s: %w", deploy.RefOf(obj), err)
		}
		fmt.Fprintf(out, "---\n%s\n%s", title, text)
	}
	return nil
}

// shownLines is the number of lines that are shown around a difference.
const shownLines = 3

// difference returns the lines from the first difference to the last, with some lines around them.
func difference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	var out strings.Builder
	lines := func(mark string, lines []string) {
		for _, line := range lines {
			out.WriteString(mark + line + "\n")
		}
	}
	lines("  ", a[max(0, start-shownLines):start])
	lines("- ", a[start:len(a)-end])
	lines("+ ", b[start:len(b)-end])
	lines("  ", a[len(a)-end:min(len(a), len(a)-end+shownLines)])
	return out.String()
}
