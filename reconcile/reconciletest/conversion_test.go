package reconciletest

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/admission"
	"github.com/operkit/operkit/reconcile/conversion"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

const boxDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boxes.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Box, listKind: BoxList, plural: boxes, singular: box}
  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: "https://127.0.0.1:1", caBundle: ""}}}
  versions:
  - name: v1
    served: true
    storage: false
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {count: {type: integer}, colour: {type: string}, motto: {type: string}}}
          status: {type: object, properties: {open: {type: boolean}}}
  - name: v2
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
              replicas: {type: integer}
              paint: {type: object, properties: {colour: {type: string}, gloss: {type: boolean}}}
          status: {type: object, properties: {phase: {type: string}}}
`

var (
	boxV1 = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Box"}
	boxV2 = schema.GroupVersionKind{Group: "example.com", Version: "v2", Kind: "Box"}
)

type oldBox struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Count  int64  `json:"count,omitempty"`
		Colour string `json:"colour,omitempty"`
		Motto  string `json:"motto,omitempty"`
	} `json:"spec"`
	Status struct {
		Open bool `json:"open,omitempty"`
	} `json:"status,omitempty"`
}

type boxPaint struct {
	Colour string `json:"colour,omitempty"`
	Gloss  bool   `json:"gloss,omitempty"`
}

type newBox struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Replicas int64     `json:"replicas,omitempty"`
		Paint    *boxPaint `json:"paint,omitempty"`
	} `json:"spec"`
	Status struct {
		Phase string `json:"phase,omitempty"`
	} `json:"status,omitempty"`
}

func boxes() *conversion.Converter[newBox] {
	c := conversion.New[newBox](boxV2)
	conversion.Add(c, boxV1, conversion.Functions[oldBox, newBox]{
		Up: func(from *oldBox, to *newBox) error {
			if to.Spec.Replicas = from.Spec.Count; from.Spec.Colour == "invisible" {
				return errors.New("spec.colour: it can't be invisible")
			}
			if from.Spec.Colour != "" {
				to.Spec.Paint = &boxPaint{Colour: from.Spec.Colour}
			}
			if from.Status.Open {
				to.Status.Phase = "Open"
			}
			return nil
		},
		Down: func(from *newBox, to *oldBox) error {
			if to.Spec.Count = from.Spec.Replicas; from.Spec.Paint != nil {
				to.Spec.Colour = from.Spec.Paint.Colour
			}
			if from.Spec.Replicas == 13 {
				return errors.New("spec.replicas: 13 can't be read")
			}
			to.Status.Open = from.Status.Phase == "Open"
			return nil
		},
	})
	return c
}

// playBoxes plays cases with two versions, and returns what has happened in each.
func playBoxes(t *testing.T, port deploy.Port, namespace string) map[string]string {
	ctx := t.Context()
	type answer func() (*unstructured.Unstructured, error)
	box := func(kind schema.GroupVersionKind, name string, spec map[string]any) *unstructured.Unstructured {
		object := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": name, "namespace": namespace}, "spec": spec}}
		object.SetGroupVersionKind(kind)
		return object
	}
	ref := func(kind schema.GroupVersionKind, name string) deploy.Ref {
		return deploy.Ref{Kind: kind, Namespace: namespace, Name: name}
	}
	apply := func(kind schema.GroupVersionKind, name, manager string, force bool, spec map[string]any) answer {
		return func() (*unstructured.Unstructured, error) {
			applied, err := port.Apply(ctx, box(kind, name, spec), deploy.ApplyOptions{FieldManager: manager, Force: force})
			return applied.Object, err
		}
	}
	merge := func(kind schema.GroupVersionKind, name, sub, body string) answer {
		return func() (*unstructured.Unstructured, error) {
			return port.Patch(ctx, ref(kind, name), deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(body), FieldManager: "joe", Subresource: sub})
		}
	}
	read := func(kind schema.GroupVersionKind, name string) answer {
		return func() (*unstructured.Unstructured, error) { return port.Get(ctx, ref(kind, name)) }
	}
	happened := map[string]string{}
	for i, row := range []struct {
		reason string
		do     answer
	}{
		{"the old version is applied", apply(boxV1, "a", "ann", false, spec{"count": int64(3), "colour": "red", "motto": "tea"})},
		{"it is read as the new one", read(boxV2, "a")},
		{"and as the old one", read(boxV1, "a")},
		{"another manager applies the new version", apply(boxV2, "a", "operator", false, spec{"paint": spec{"gloss": true}})},
		{"a conflict between versions", apply(boxV2, "a", "operator", false, spec{"paint": spec{"gloss": true, "colour": "blue"}})},
		{"is taken by force", apply(boxV2, "a", "operator", true, spec{"paint": spec{"gloss": true, "colour": "blue"}})},
		{"the old version again: nothing is lost", read(boxV1, "a")},
		{"the old one is applied again without a field", apply(boxV1, "a", "ann", true, spec{"count": int64(3)})},
		{"an unchanged apply of the new version", apply(boxV2, "a", "operator", false, spec{"paint": spec{"gloss": true, "colour": "blue"}})},
		{"an edit of the old version", merge(boxV1, "a", "", `{"spec":{"count":4}}`)},
		{"an edit of the new version", merge(boxV2, "a", "", `{"spec":{"replicas":5},"metadata":{"labels":{"a":"b"}}}`)},
		{"a status of the new version", merge(boxV2, "a", "status", `{"status":{"phase":"Strange"}}`)},
		{"a status of the old version", merge(boxV1, "a", "status", `{"status":{"open":true}}`)},
		{"the new version in the end", read(boxV2, "a")},
		{"what can't be written", apply(boxV1, "b", "ann", false, spec{"colour": "invisible"})},
		{"what can't be read in the other version is written", apply(boxV2, "c", "ann", false, spec{"replicas": int64(13)})},
		{"and can't be read", read(boxV1, "c")},
		{"and can't be edited there", merge(boxV1, "c", "", `{"spec":{"count":4}}`)},
		{"nor listed", func() (*unstructured.Unstructured, error) {
			_, err := port.List(ctx, boxV1, namespace, deploy.ListOptions{})
			return nil, err
		}},
		{"but be deleted", func() (*unstructured.Unstructured, error) {
			return nil, port.Delete(ctx, ref(boxV2, "c"), deploy.DeleteOptions{})
		}},
		{"the others are listed then", func() (*unstructured.Unstructured, error) {
			found, err := port.List(ctx, boxV1, namespace, deploy.ListOptions{})
			if len(found) != 1 {
				return nil, errors.Join(fmt.Errorf("%d objects", len(found)), err)
			}
			return found[0], err
		}},
	} {
		object, err := row.do()
		text := fmt.Sprintf("error: %T %v\n", err, err)
		if object != nil {
			text += fmt.Sprintf("%s spec: %v status: %v generation: %d annotations: %v\nmanaged: %s\n", object.GetAPIVersion(), object.Object["spec"], object.Object["status"], object.GetGeneration(),
				object.GetAnnotations(), versionsOf(object))
		}
		happened[fmt.Sprintf("%02d %s", i, row.reason)] = strings.ReplaceAll(text, namespace, "NAMESPACE")
	}
	return happened
}

// versionsOf describes the managed fields. Their order depends on the seconds of the clock, so they are sorted.
func versionsOf(object *unstructured.Unstructured) string {
	var all []string
	for _, entry := range object.GetManagedFields() {
		all = append(all, fmt.Sprintf("%s %s %s %s %s", entry.Manager, entry.Operation, entry.APIVersion, entry.Subresource, entry.FieldsV1))
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

// TestConversionAgrees plays the same cases in memory and on an API server.
func TestConversionAgrees(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(boxes().Handler(slog.New(slog.DiscardHandler)))
	t.Cleanup(server.Close)
	var definition map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(boxDefinition), &definition))
	require.NoError(t, unstructured.SetNestedMap(definition, map[string]any{
		"url": server.URL, "caBundle": base64Of(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})),
	}, "spec", "conversion", "webhook", "clientConfig"))
	text, err := yaml.Marshal(definition)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "boxes.yaml")
	require.NoError(t, os.WriteFile(file, text, 0o600))

	h := New(t, Controlling(TestedKind, nil), Memory(dryrun.Namespaces("shop")), Definitions(file), Conversion(boxes()))
	memory := playBoxes(t, h.Cluster().Port(), "shop")
	env := envtest.Start(t, envtest.CRDs(file))
	on, err := cluster.New(t.Context(), env.Admin)
	require.NoError(t, err)
	t.Cleanup(on.Wait)
	real := playBoxes(t, on.Port(), env.Namespace)
	for reason, want := range real {
		t.Run("harness 15: as on the API server: "+reason, func(t *testing.T) { assert.Equal(t, want, memory[reason]) })
	}
}

func base64Of(content []byte) string {
	text, _ := json.Marshal(content)
	return strings.Trim(string(text), `"`)
}

func TestConversionOfReconcilers(t *testing.T) {
	t.Parallel()
	controller := Controlling(boxV2, func(_ context.Context, s *reconcile.Session) error {
		replicas, _, _ := unstructured.NestedInt64(s.Resource().Object, "spec", "replicas")
		s.Add("door", settings(s.ScopedName("door"), map[string]any{"replicas": fmt.Sprint(replicas)}))
		return nil
	})
	t.Run("harness 16: a controller uses its version while others use another one, and nothing is lost", func(t *testing.T) {
		t.Parallel()
		playBoxOf(t, New(t, controller, Conversion(boxes())))
	})
	t.Run("harness 16: also if another version than that of the controller is stored", func(t *testing.T) {
		t.Parallel()
		stored := strings.NewReplacer("status: {type: object,", "status: {type: object, x-kubernetes-preserve-unknown-fields: true,", "storage: false", "storage: true", "storage: true", "storage: false").Replace(boxDefinition)
		file := filepath.Join(t.TempDir(), "boxes.yaml")
		require.NoError(t, os.WriteFile(file, []byte(stored), 0o600))
		h := New(t, controller, Conversion(boxes()), Memory(dryrun.AnyKind()), Definitions(file))
		playBoxOf(t, h)
		for _, object := range h.Memory().Objects() {
			if object.GetKind() == "Box" {
				assert.Equal(t, "example.com/v1", object.GetAPIVersion())
			}
		}
	})
	t.Run("harness 16: webhooks get objects in their version", func(t *testing.T) {
		t.Parallel()
		hooks := admission.New[newBox](boxV2)
		hooks.Mutate("gloss", func(_ context.Context, r *admission.Request[newBox]) error {
			r.Object.Spec.Paint = &boxPaint{Colour: "red", Gloss: true}
			return nil
		})
		h := New(t, controller, Conversion(boxes()), Admission(hooks))
		applied, err := h.Cluster().Port().Apply(t.Context(), &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.com/v1", "kind": "Box", "metadata": map[string]any{"name": "tea", "namespace": "test"}, "spec": spec{"count": int64(2)},
		}}, deploy.ApplyOptions{FieldManager: "ann"})
		require.NoError(t, err)
		assert.Equal(t, spec{"count": int64(2), "colour": "red"}, applied.Object.Object["spec"])
		stored, err := h.Cluster().Port().Get(t.Context(), deploy.Ref{Kind: boxV2, Namespace: "test", Name: "tea"})
		require.NoError(t, err)
		assert.Equal(t, spec{"replicas": int64(2), "paint": spec{"colour": "red", "gloss": true}}, stored.Object["spec"])
	})
	t.Run("harness 16: mistakes are errors at the start", func(t *testing.T) {
		t.Parallel()
		said := try(t, func(t *trial) {
			New(t, controller, Conversion(boxes(), boxes(), nil, conversion.New[newBox](schema.GroupVersionKind{Group: "a", Version: "v1", Kind: "Other"})))
		})
		for _, text := range []string{"there are two converters of Box.example.com: pass one", "nil converter", "conversion of Other: there is one version only"} {
			assert.Contains(t, said, text)
		}
	})
}

// playBoxOf applies and edits a box as v1, whose controller uses v2.
func playBoxOf(t *testing.T, h *Harness) {
	h.Apply("{apiVersion: example.com/v1, kind: Box, metadata: {name: tea}, spec: {count: 3, motto: tea}}")
	h.RunUntilSettled()
	h.Ready("Box tea")
	assert.Equal(t, map[string]any{"replicas": "3"}, h.Get("ConfigMap tea-door").Object["data"])
	assert.Equal(t, "example.com/v2", h.Get("Box tea").GetAPIVersion())
	h.Edit("Box.v1.example.com tea", func(box *unstructured.Unstructured) {
		assert.Equal(t, spec{"count": int64(3), "motto": "tea"}, box.Object["spec"])
		require.NoError(t, unstructured.SetNestedField(box.Object, int64(4), "spec", "count"))
	})
	h.RunUntilSettled()
	assert.Equal(t, map[string]any{"replicas": "4"}, h.Get("ConfigMap tea-door").Object["data"])
	h.RunUntilSettled()
	h.Writes(0)
	h.Restart()
	h.RunUntilSettled()
	h.Writes(0)
}
