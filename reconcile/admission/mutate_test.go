package admission_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/operkit/operkit/reconcile/admission"
	"github.com/operkit/operkit/smp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apijson "k8s.io/apimachinery/pkg/util/json"
)

// patched returns the object of a request after the patch of a response.
func patched(t *testing.T, asked admissionv1.AdmissionRequest, response *admissionv1.AdmissionResponse) content {
	t.Helper()
	var before, operations any
	require.NoError(t, apijson.Unmarshal(asked.Object.Raw, &before))
	if response.Patch == nil {
		return before.(content)
	}
	require.Equal(t, admissionv1.PatchTypeJSONPatch, *response.PatchType)
	require.NoError(t, apijson.Unmarshal(response.Patch, &operations))
	after, err := smp.JSON(before, operations)
	require.NoError(t, err)
	return after.(content)
}

func TestMutators(t *testing.T) {
	t.Parallel()
	t.Run("admission 9: fields that the type doesn't have stay", func(t *testing.T) {
		t.Parallel()
		hooks := admission.New[thing](things)
		hooks.Mutate("colour", func(_ context.Context, r *thingRequest) error { r.Object.Spec.Colour = "green"; return nil })
		asked := creation(`{"size":3,"unknown":{"a":[1,null,9007199254740993]}}`)
		response := ask(t, webhooksOf(t, hooks)[0], asked)
		assert.JSONEq(t, `[{"op":"add","path":"/spec/colour","value":"green"}]`, string(response.Patch))
	})
	t.Run("admission 9: each function gets the object as the one before it has left it", func(t *testing.T) {
		t.Parallel()
		hooks := admission.New[thing](things)
		hooks.Mutate("first", func(_ context.Context, r *thingRequest) error { r.Object.Spec.Size++; return nil })
		hooks.Mutate("second", func(_ context.Context, r *thingRequest) error {
			assert.EqualValues(t, 4, r.Content()["spec"].(content)["size"])
			r.Object.Spec.Size *= 2
			return nil
		})
		asked := creation(`{"size":3}`)
		assert.Equal(t, content{"size": int64(8)}, patched(t, asked, ask(t, webhooksOf(t, hooks)[0], asked))["spec"])
	})
	t.Run("admission 9: without a change there is no patch", func(t *testing.T) {
		t.Parallel()
		hooks := admission.New[thing](things)
		hooks.Mutate("same", func(_ context.Context, r *thingRequest) error { r.Object.Spec.Size = 3; return nil })
		response := ask(t, webhooksOf(t, hooks)[0], creation(`{"size":3}`))
		assert.True(t, response.Allowed)
		assert.Nil(t, response.Patch)
		assert.Nil(t, response.PatchType)
	})
	t.Run("admission 9: a function that denies ends the row, and what was changed is lost", func(t *testing.T) {
		t.Parallel()
		hooks := admission.New[thing](things)
		hooks.Mutate("first", func(_ context.Context, r *thingRequest) error { r.Object.Spec.Size = 9; return nil })
		hooks.Mutate("second", func(context.Context, *thingRequest) error { return admission.Deny("no") })
		hooks.Mutate("third", func(context.Context, *thingRequest) error { t.Error("called"); return nil })
		response := ask(t, webhooksOf(t, hooks)[0], creation(`{"size":3}`))
		assert.False(t, response.Allowed)
		assert.Nil(t, response.Patch)
	})
	t.Run("admission 10: a validator changes nothing", func(t *testing.T) {
		t.Parallel()
		hooks := admission.New[thing](things)
		hooks.Validate("change", func(_ context.Context, r *thingRequest) error { r.Object.Spec.Size = 9; return nil })
		hooks.Validate("see", func(_ context.Context, r *thingRequest) error {
			assert.EqualValues(t, 3, r.Object.Spec.Size)
			return nil
		})
		response := ask(t, webhooksOf(t, hooks)[0], creation(`{"size":3}`))
		assert.True(t, response.Allowed)
		assert.Nil(t, response.Patch)
	})
	for field, change := range map[string]func(r *thingRequest){
		"kind":                       func(r *thingRequest) { r.Object.Kind = "Other" },
		"apiVersion":                 func(r *thingRequest) { r.Object.APIVersion = "example.com/v2" },
		"metadata.name":              func(r *thingRequest) { r.Object.Name = "b" },
		"metadata.uid":               func(r *thingRequest) { r.Object.UID = "v" },
		"metadata.namespace":         func(r *thingRequest) { r.Object.Namespace = "other" },
		"metadata.generation":        func(r *thingRequest) { r.Object.Generation = 7 },
		"metadata.resourceVersion":   func(r *thingRequest) { r.Object.ResourceVersion = "7" },
		"metadata.creationTimestamp": func(r *thingRequest) { r.Object.CreationTimestamp.Time = day },
	} {
		t.Run("admission 11: a mutator can't change "+field, func(t *testing.T) {
			t.Parallel()
			hooks := admission.New[thing](things)
			hooks.Mutate("bad", func(_ context.Context, r *thingRequest) error { change(r); return nil })
			var log strings.Builder
			_, body := post(webhooksOf(t, hooks)[0], reviewOf(t, creation(`{}`)), &log)
			response := responseIn(t, body)
			assert.False(t, response.Allowed)
			assert.EqualValues(t, 500, response.Result.Code)
			assert.Contains(t, log.String(), "function=bad")
		})
	}
}

// FuzzMutator changes objects of any form: what the type doesn't have stays, and the patch makes exactly the change.
func FuzzMutator(f *testing.F) {
	for _, spec := range []string{`{}`, `null`, `{"size":3,"x":{"y":[1,{"z":null}]}}`, `{"size":1.5}`, `{"a/b":1,"~":2}`} {
		f.Add(spec, "green")
	}
	hooks := admission.New[thing](things)
	hooks.Mutate("colour", func(_ context.Context, r *thingRequest) error {
		r.Object.Spec.Colour = r.Object.Annotations["colour"]
		return nil
	})
	webhooks, err := hooks.Webhooks()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, spec, colour string) {
		object := content{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": content{"name": "a1", "annotations": content{"colour": colour}}}
		var given any
		if json.Unmarshal([]byte(spec), &given) != nil {
			return
		}
		object["spec"] = given
		raw, err := json.Marshal(object)
		require.NoError(t, err)
		asked := admissionv1.AdmissionRequest{Operation: admission.Create, Name: "a1", Object: runtime.RawExtension{Raw: raw}}
		response := ask(t, webhooks[0], asked)
		if !response.Allowed {
			return
		}
		before, after := patched(t, asked, &admissionv1.AdmissionResponse{}), patched(t, asked, response)
		was, _ := before["spec"].(content)
		is, _ := after["spec"].(content)
		for key, value := range was {
			if key != "colour" {
				assert.Equal(t, value, is[key], key)
			}
		}
		found, _ := is["colour"].(string)
		assert.Equal(t, before["metadata"].(content)["annotations"].(content)["colour"], found)
	})
}
