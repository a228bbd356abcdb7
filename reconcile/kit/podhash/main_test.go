package podhash_test

import (
	"context"
	"encoding/base64"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/kit/podhash"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const hashKey = "operkit.dev/dependency-hash"

type (
	fields = map[string]any
	list   = []any
)

// object returns an object; metadata may be nil.
func object(apiVersion, kind, name string, more fields) *unstructured.Unstructured {
	content := fields{"apiVersion": apiVersion, "kind": kind, "metadata": fields{"name": name}}
	for field, value := range more {
		content[field] = value
	}
	return &unstructured.Unstructured{Object: content}
}

func secret(name string, values map[string]string) *unstructured.Unstructured {
	data := fields{}
	for key, value := range values {
		data[key] = base64.StdEncoding.EncodeToString([]byte(value))
	}
	return object("v1", "Secret", name, fields{"data": data})
}

// deployment returns a Deployment with a Pod spec.
func deployment(spec fields) *unstructured.Unstructured {
	return object("apps/v1", "Deployment", "web", fields{"spec": fields{"template": fields{"spec": spec}}})
}

// mounting returns a Deployment with volumes of Secrets.
func mounting(secrets ...string) *unstructured.Unstructured {
	volumes := list{}
	for _, name := range secrets {
		volumes = append(volumes, fields{"name": name, "secret": fields{"secretName": name}})
	}
	return deployment(fields{"volumes": volumes})
}

func annotate(obj *unstructured.Unstructured, key, value string) *unstructured.Unstructured {
	obj = obj.DeepCopy()
	annotations := obj.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	obj.SetAnnotations(annotations)
	return obj
}

// reading returns a Read of these objects.
func reading(objects ...*unstructured.Unstructured) podhash.Read {
	return func(_ context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
		for _, obj := range objects {
			if obj.GetKind() == ref.Kind.Kind && obj.GetName() == ref.Name && (obj.GetNamespace() == "" || obj.GetNamespace() == ref.Namespace) {
				return obj, nil
			}
		}
		return nil, nil
	}
}

// hashOf returns the annotation of the template after Annotate, empty for none.
func hashOf(t testing.TB, h *podhash.Hasher, workload *unstructured.Unstructured, objects ...*unstructured.Unstructured) string {
	t.Helper()
	annotated, _, err := h.Annotate(t.Context(), workload, "shop", reading(objects...))
	require.NoError(t, err)
	return templateAnnotation(annotated, hashKey)
}

func templateAnnotation(obj *unstructured.Unstructured, key string) string {
	for _, path := range [][]string{{}, {"spec", "template"}, {"spec", "jobTemplate", "spec", "template"}} {
		value, _, _ := unstructured.NestedString(obj.Object, append(append([]string{}, path...), "metadata", "annotations", key)...)
		if value != "" {
			return value
		}
	}
	return ""
}
