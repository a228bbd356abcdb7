package reconciletest

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/admission"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const thingDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Thing, listKind: ThingList, plural: things, singular: thing}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer, maximum: 100}
              colour: {type: string}
              shade: {type: string}
              trail: {type: string}
              level: {type: string, default: low}
          status:
            type: object
            properties:
              open: {type: boolean}
              by: {type: string}
`

var thingKind = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"}

type thing struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Size   int64  `json:"size,omitempty"`
		Colour string `json:"colour,omitempty"`
		Shade  string `json:"shade,omitempty"`
		Trail  string `json:"trail,omitempty"`
		Level  string `json:"level,omitempty"`
	} `json:"spec"`
	Status struct {
		Open bool   `json:"open,omitempty"`
		By   string `json:"by,omitempty"`
	} `json:"status,omitempty"`
}

// theater is where the cases are played: in memory or on an API server.
type theater struct {
	t         *testing.T
	namespace string
	mu        sync.Mutex
	calls     []string
	warnings  func() []string
}

func (s *theater) note(sort string, r *admission.Request[thing]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, uid, _ := unstructured.NestedString(r.Content(), "metadata", "uid")
	_, managed, _ := unstructured.NestedSlice(r.Content(), "metadata", "managedFields")
	generation, _, _ := unstructured.NestedInt64(r.Content(), "metadata", "generation")
	options := r.Options()
	s.calls = append(s.calls, fmt.Sprintf("%s %s %q %s old=%t dry=%t %v %v force=%v uid=%t managed=%t generation=%d", sort, r.Operation, r.Subresource, r.Ref.Name, r.Old != nil, r.DryRun,
		options["kind"], options["fieldManager"], options["force"], uid, managed, generation))
}

// hooks returns the webhooks that are asked in the namespace of the test.
func (s *theater) hooks() []AdmissionHooks {
	here := admission.Namespaces(metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": s.namespace}})
	first := admission.New[thing](thingKind, here, admission.Reinvoke(), admission.Within(2*time.Second))
	first.Mutate("trail", func(_ context.Context, r *admission.Request[thing]) error {
		s.note("first", r)
		r.Object.Spec.Trail += "1" + r.Object.Spec.Shade
		return nil
	})
	first.Mutate("status", func(_ context.Context, r *admission.Request[thing]) error {
		s.note("status", r)
		r.Object.Status.By = "mutator"
		r.Object.Spec.Colour = "changed by the status"
		return nil
	}, admission.Subresources("status"), admission.On(admission.Update))
	first.Validate("size", func(ctx context.Context, r *admission.Request[thing]) error {
		s.note("validate", r)
		switch {
		case r.Object.Spec.Colour == "panic":
			panic("odd")
		case r.Object.Spec.Colour == "slow":
			<-ctx.Done()
			return ctx.Err()
		case r.Object.Spec.Colour == "error":
			return errors.New("secret")
		case r.Object.Spec.Colour == "forbidden":
			return admission.Deny("%s is forbidden", r.Ref.Name)
		case r.Object.Spec.Colour == "pink":
			r.Warn("pink is going out of fashion")
		case r.Old != nil && r.Object.Spec.Size < r.Old.Spec.Size:
			return errors.Join(field.Forbidden(field.NewPath("spec", "size"), "a thing can't shrink"), field.Invalid(field.NewPath("spec"), "x", "at all"))
		}
		return nil
	})
	first.Validate("keep", func(_ context.Context, r *admission.Request[thing]) error {
		s.note("delete", r)
		if r.Old.Spec.Colour == "gold" {
			return admission.Deny("gold is kept")
		}
		return nil
	}, admission.On(admission.Delete))
	first.Validate("status", func(_ context.Context, r *admission.Request[thing]) error {
		if r.Object.Status.Open && r.Object.Spec.Size == 0 {
			return admission.Deny("an empty thing can't open")
		}
		return nil
	}, admission.Subresources("status"))
	second := admission.New[thing](thingKind, here, admission.Named("second"), admission.IgnoreFailures(), admission.Objects(metav1.LabelSelector{MatchLabels: map[string]string{"shade": "yes"}}))
	second.Mutate("shade", func(_ context.Context, r *admission.Request[thing]) error {
		s.note("second", r)
		if r.Object.Spec.Colour == "ignored" {
			panic("odd")
		}
		r.Object.Spec.Shade = "dark"
		if r.Object.Spec.Colour == "big" {
			r.Object.Spec.Size = 1000
		}
		return nil
	})
	elsewhere := admission.New[thing](thingKind, admission.Named("elsewhere"), admission.Namespaces(metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": "nowhere"}}))
	elsewhere.Validate("never", func(context.Context, *admission.Request[thing]) error { return admission.Deny("never") })
	return []AdmissionHooks{first, second, elsewhere}
}

func (s *theater) thing(name string, spec map[string]any, labels ...string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": name, "namespace": s.namespace}, "spec": spec}}
	object.SetGroupVersionKind(thingKind)
	for _, label := range labels {
		object.SetLabels(map[string]string{"shade": label})
	}
	return object
}

func (s *theater) ref(name string) deploy.Ref {
	return deploy.Ref{Kind: thingKind, Namespace: s.namespace, Name: name}
}

type spec = map[string]any

// play plays all cases, and returns what has happened in each.
func (s *theater) play(port deploy.Port) map[string]string {
	ctx := s.t.Context()
	create := func(name string, spec map[string]any, labels ...string) func() (*unstructured.Unstructured, error) {
		return func() (*unstructured.Unstructured, error) {
			return port.Create(ctx, s.thing(name, spec, labels...), deploy.CreateOptions{FieldManager: "joe"})
		}
	}
	apply := func(name string, spec map[string]any) func() (*unstructured.Unstructured, error) {
		return func() (*unstructured.Unstructured, error) {
			applied, err := port.Apply(ctx, s.thing(name, spec), deploy.ApplyOptions{FieldManager: "ann", Force: true})
			return applied.Object, err
		}
	}
	merge := func(name, sub, body string) func() (*unstructured.Unstructured, error) {
		return func() (*unstructured.Unstructured, error) {
			return port.Patch(ctx, s.ref(name), deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(body), FieldManager: "joe", Subresource: sub})
		}
	}
	edit := func(name string, change func(spec map[string]any)) func() (*unstructured.Unstructured, error) {
		return func() (*unstructured.Unstructured, error) {
			live, err := port.Get(ctx, s.ref(name))
			require.NoError(s.t, err)
			change(live.Object["spec"].(map[string]any))
			return port.Update(ctx, live, deploy.UpdateOptions{FieldManager: "joe"})
		}
	}
	remove := func(name string, dryRun bool) func() (*unstructured.Unstructured, error) {
		return func() (*unstructured.Unstructured, error) {
			return nil, port.Delete(ctx, s.ref(name), deploy.DeleteOptions{DryRun: dryRun})
		}
	}
	happened := map[string]string{}
	for i, row := range []struct {
		reason string
		do     func() (*unstructured.Unstructured, error)
	}{
		{"a creation: the mutator, then the validator", create("a", spec{"size": int64(3)})},
		{"a creation of what exists", create("a", spec{"size": int64(3)})},
		{"a later mutator changes it: the first one again", create("b", spec{"size": int64(3)}, "yes")},
		{"the selector of objects leaves it out", create("c", spec{"colour": "gold"}, "no")},
		{"a failure that is ignored", create("d", spec{"colour": "ignored"}, "yes")},
		{"a mutator makes what the schema refuses", create("e", spec{"colour": "big"}, "yes")},
		{"the schema refuses before any validator", create("e", spec{"size": int64(1000)})},
		{"a denial", create("f", spec{"colour": "forbidden"})},
		{"an error of the program", create("f", spec{"colour": "error"})},
		{"a panic", create("f", spec{"colour": "panic"})},
		{"a warning", create("g", spec{"colour": "pink"})},
		{"an update that shrinks", edit("a", func(spec map[string]any) { spec["size"] = int64(2) })},
		{"an update that grows", edit("a", func(spec map[string]any) { spec["size"] = int64(4) })},
		{"an apply that creates", apply("h", spec{"size": int64(5)})},
		{"an apply that shrinks", apply("h", spec{"size": int64(4)})},
		{"an apply that grows", apply("h", spec{"size": int64(6)})},
		{"a patch that shrinks", merge("h", "", `{"spec":{"size":1}}`)},
		{"a patch that changes nothing", merge("g", "", `{"spec":{"colour":"pink"}}`)},
		{"a status", merge("a", "status", `{"status":{"open":true}}`)},
		{"a status that is denied", merge("c", "status", `{"status":{"open":true}}`)},
		{"a dry run", func() (*unstructured.Unstructured, error) {
			return port.Create(ctx, s.thing("i", spec{"size": int64(1)}), deploy.CreateOptions{FieldManager: "joe", DryRun: true})
		}},
		{"a deletion that is denied", remove("c", false)},
		{"a deletion as a dry run", remove("a", true)},
		{"a deletion", remove("a", false)},
		{"a deletion of what isn't there", remove("a", false)},
		{"a generated name", func() (*unstructured.Unstructured, error) {
			object := s.thing("", spec{"size": int64(1)})
			unstructured.RemoveNestedField(object.Object, "metadata", "name")
			object.SetGenerateName("gen-")
			return port.Create(ctx, object, deploy.CreateOptions{FieldManager: "joe"})
		}},
	} {
		s.takeCalls()
		s.warnings()
		object, err := row.do()
		text := "calls:\n  " + strings.Join(s.takeCalls(), "\n  ") + fmt.Sprintf("\nwarnings: %q\nerror: %T %v\n", s.warnings(), err, err)
		if invalid, ok := errors.AsType[*deploy.InvalidError](err); ok {
			text += fmt.Sprintf("causes: %v\n", invalid.Causes)
		}
		if object != nil {
			text += fmt.Sprintf("spec: %v status: %v generation: %d managed: %s\n", object.Object["spec"], object.Object["status"], object.GetGeneration(), managersOf(object))
		}
		text = strings.ReplaceAll(text, s.namespace, "NAMESPACE")
		// These texts have always differed.
		text = strings.NewReplacer("no such object in memory", `things.example.com "a" not found`, "it exists in memory", `things.example.com "a" already exists`,
			"Invalid value: 1000: ", "", "Invalid value: spec.size in", "spec.size in").Replace(text)
		happened[fmt.Sprintf("%02d %s", i, row.reason)] = regexp.MustCompile(`gen-[a-z0-9]{5}`).ReplaceAllString(text, "gen-XXXXX")
	}
	return happened
}

// managersOf describes the managed fields. Their order depends on the seconds of the clock, so they are sorted.
func managersOf(object *unstructured.Unstructured) string {
	var all []string
	for _, entry := range object.GetManagedFields() {
		all = append(all, fmt.Sprintf("%s %s %s %s", entry.Manager, entry.Operation, entry.Subresource, entry.FieldsV1))
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

func (s *theater) takeCalls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := s.calls
	s.calls = nil
	return calls
}

// playInMemory plays the cases on the cluster of a harness.
func playInMemory(t *testing.T, file string) map[string]string {
	s := &theater{t: t, namespace: "shop"}
	h := New(t, Controlling(TestedKind, nil), Memory(dryrun.Namespaces("shop")), Definitions(file), Admission(s.hooks()...))
	s.warnings = h.Warnings
	return s.play(h.Cluster().Port())
}

// playOnAPIServer plays the cases on a control plane, where the webhooks are served on this machine.
func playOnAPIServer(t *testing.T, file string) map[string]string {
	env := envtest.Start(t, envtest.CRDs(file))
	s := &theater{t: t, namespace: env.Namespace}
	var mu sync.Mutex
	var warned []string
	on, err := cluster.New(t.Context(), env.Admin, cluster.Logger(slog.New(warnings{func(text string) {
		mu.Lock()
		defer mu.Unlock()
		warned = append(warned, text)
	}})))
	require.NoError(t, err)
	t.Cleanup(on.Wait)
	s.warnings = func() []string {
		mu.Lock()
		defer mu.Unlock()
		texts := warned
		warned = nil
		return texts
	}
	mux := http.NewServeMux()
	server := httptest.NewTLSServer(mux)
	t.Cleanup(server.Close)
	var all []*admission.Webhook
	for _, hooks := range s.hooks() {
		webhooks, err := hooks.Webhooks()
		require.NoError(t, err)
		all = append(all, webhooks...)
	}
	probes := 0
	for _, webhook := range all {
		handler := webhook.Handler(slog.New(slog.DiscardHandler))
		mux.HandleFunc(webhook.Path(), func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) })
	}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	validating, mutating := admission.Configurations(env.Namespace, admission.Target{URL: server.URL, CA: ca}, resourceOf, all...)
	for _, configuration := range []any{validating, mutating} {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(configuration)
		require.NoError(t, err)
		made, err := on.Port().Create(t.Context(), &unstructured.Unstructured{Object: content}, deploy.CreateOptions{FieldManager: "test"})
		require.NoError(t, err)
		t.Cleanup(func() {
			assert.NoError(t, on.Port().Delete(context.WithoutCancel(t.Context()), deploy.RefOf(made), deploy.DeleteOptions{}))
		})
	}
	require.Eventually(t, func() bool {
		probes++
		_, err := on.Port().Create(t.Context(), s.thing("probe", spec{"size": int64(1)}, "yes"), deploy.CreateOptions{FieldManager: "joe", DryRun: true})
		calls := strings.Join(s.takeCalls(), " ")
		return err == nil && strings.Contains(calls, "validate") && strings.Contains(calls, "second")
	}, 30*time.Second, 50*time.Millisecond, "the webhooks are called")
	return s.play(on.Port())
}

// warnings is a handler for the warnings that a cluster logs.
type warnings struct{ note func(text string) }

func (w warnings) Enabled(context.Context, slog.Level) bool { return true }
func (w warnings) WithAttrs([]slog.Attr) slog.Handler       { return w }
func (w warnings) WithGroup(string) slog.Handler            { return w }
func (w warnings) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "warning" {
			w.note(a.Value.String())
		}
		return true
	})
	return nil
}

// TestAdmissionAgrees plays the same cases in memory and on an API server.
func TestAdmissionAgrees(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "things.yaml")
	require.NoError(t, os.WriteFile(file, []byte(thingDefinition), 0o600))
	memory := playInMemory(t, file)
	real := playOnAPIServer(t, file)
	for reason, want := range real {
		t.Run("harness 14: as on the API server: "+reason, func(t *testing.T) { assert.Equal(t, want, memory[reason]) })
	}
}
