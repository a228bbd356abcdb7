package admission_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/admission"
	"github.com/operkit/operkit/reconcile/internal/vectortest"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/smp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	apijson "k8s.io/apimachinery/pkg/util/json"
)

// TestVectors asks hooks with the handlers of each case.
func TestVectors(t *testing.T) {
	vectortest.Run(t, "kopf-admission", func(t *testing.T, c *vectortest.Case) {
		p := &play{t: t, c: c, called: []any{}, allowed: true, code: int64(200), warnings: []any{}}
		p.ask()
		if c.Error {
			return
		}
		p.compare()
	})
}

// play asks the hooks of one case.
type play struct {
	t        *testing.T
	c        *vectortest.Case
	called   []any
	allowed  bool
	code     any
	message  string
	warnings []any
	patched  any
}

// ask asks the mutators, and then the validators about what these made of the object.
func (p *play) ask() {
	hooks := admission.New[unstructured.Unstructured](things)
	for _, each := range p.c.Input["handlers"].([]any) {
		p.register(hooks, each.(content))
	}
	asked := p.request()
	webhooks, err := hooks.Webhooks()
	require.NoError(p.t, err)
	for _, webhook := range webhooks {
		if p.c.Input["reason"] == "validating" && webhook.Mutating() || p.c.Input["reason"] == "mutating" && !webhook.Mutating() {
			continue
		}
		status, body := post(webhook, reviewOf(p.t, asked), io.Discard)
		if p.c.Error {
			assert.Equal(p.t, p.http(), status, "%s", body)
			continue
		}
		require.Equal(p.t, http.StatusOK, status, "%s", body)
		p.take(responseIn(p.t, body), &asked)
	}
}

// http returns the HTTP status of a request that is refused.
func (p *play) http() int {
	if p.c.Name == "admission/unknown-resource" {
		return http.StatusNotFound
	}
	return http.StatusBadRequest
}

// take adds a response, and changes the object of the request as its patch says.
func (p *play) take(response *admissionv1.AdmissionResponse, asked *admissionv1.AdmissionRequest) {
	for _, warning := range response.Warnings {
		p.warnings = append(p.warnings, warning)
	}
	if !response.Allowed && p.allowed {
		p.allowed, p.code, p.message = false, int64(response.Result.Code), response.Result.Message
	}
	if response.Patch == nil {
		return
	}
	var before, operations any
	require.NoError(p.t, apijson.Unmarshal(asked.Object.Raw, &before))
	require.NoError(p.t, apijson.Unmarshal(response.Patch, &operations))
	after, err := smp.JSON(before, operations)
	require.NoError(p.t, err)
	asked.Object.Raw, err = json.Marshal(after)
	require.NoError(p.t, err)
	p.patched = after
}

// request returns the request of the case. kopf goes by the resource: things are of the kind Thing.
func (p *play) request() admissionv1.AdmissionRequest {
	given := p.c.Input["request"].(content)
	text, err := json.Marshal(given)
	require.NoError(p.t, err)
	var asked admissionv1.AdmissionRequest
	require.NoError(p.t, json.Unmarshal(text, &asked))
	for _, object := range []*runtime.RawExtension{&asked.Object, &asked.OldObject} {
		if string(object.Raw) == "null" {
			object.Raw = nil
		}
	}
	asked.Kind = metav1.GroupVersionKind(things)
	if asked.Resource.Resource != "things" {
		asked.Kind.Kind = "Other"
	}
	return asked
}

// register registers a handler of the case. Filters by label and field are an if in the function.
func (p *play) register(hooks *admission.Hooks[unstructured.Unstructured], handler content) {
	operations := []admission.Operation{admission.Create, admission.Update, admission.Delete, admission.Connect}
	if given, ok := handler["operations"].([]any); ok {
		operations = nil
		for _, operation := range given {
			operations = append(operations, admission.Operation(operation.(string)))
		}
	}
	mutates := handler["on"] == "mutate"
	if mutates && (len(operations) != 1 || operations[0] != admission.Delete) {
		operations = without(operations, admission.Delete) // kopf calls only mutators that are for deletions alone
	}
	subresource, _ := handler["subresource"].(string)
	opts := []admission.Option{admission.On(operations...), admission.Subresources(subresource)}
	f := func(_ context.Context, r *admission.Request[unstructured.Unstructured]) error {
		if !passes(handler, r) {
			return nil
		}
		p.called = append(p.called, handler["id"])
		return p.do(handler["does"].([]any), r, mutates)
	}
	if id := handler["id"].(string); mutates {
		hooks.Mutate(id, f, opts...)
	} else {
		hooks.Validate(id, f, opts...)
	}
}

func without(operations []admission.Operation, left admission.Operation) (rest []admission.Operation) {
	for _, operation := range operations {
		if operation != left {
			rest = append(rest, operation)
		}
	}
	return rest
}

// passes applies the filters of a handler.
func passes(handler content, r *admission.Request[unstructured.Unstructured]) bool {
	if r.Object == nil {
		return true
	}
	for key, value := range asContent(handler["labels"]) {
		if r.Object.GetLabels()[key] != value {
			return false
		}
	}
	field, _ := handler["field"].(string)
	if field == "" {
		return true
	}
	found, ok, _ := unstructured.NestedFieldNoCopy(r.Object.Object, strings.Split(field, ".")...)
	return ok && (handler["value"] == nil || handler["value"] == found)
}

// do takes the steps of a handler. In kopf functions come after patches.
func (p *play) do(steps []any, r *admission.Request[unstructured.Unstructured], mutates bool) error {
	for _, each := range steps {
		step := each.(content)
		switch {
		case step["warn"] != nil:
			r.Warn("%v", step["warn"])
		case step["patch"] != nil:
			patched, err := smp.Merge(r.Object.Object, step["patch"])
			require.NoError(p.t, err)
			r.Object.Object = patched.(content)
		case step["fn"] != nil:
			list, _, _ := unstructured.NestedSlice(r.Object.Object, "spec", "list")
			require.NoError(p.t, unstructured.SetNestedSlice(r.Object.Object, append(list, "f"), "spec", "list"))
		}
		if err := errorOf(step); err != nil {
			return err
		}
	}
	return nil
}

// errorOf returns the error of a step, nil if it has none.
func errorOf(step content) error {
	for kind, text := range step {
		message := fmt.Sprint(text)
		switch kind {
		case "admission":
			code, _ := step["code"].(int64)
			if code == 0 {
				code = 500 // kopf's default
			}
			return &apierrors.StatusError{ErrStatus: metav1.Status{Code: int32(code), Message: message}}
		case "permanent":
			return request.Permanent(errors.New(message))
		case "temporary":
			return request.RetryAfter(time.Minute, errors.New(message))
		case "error":
			return errors.New(message)
		}
	}
	return nil
}

// expected are the answers of a better system in doubtful cases.
var expected = map[string]content{
	"code-range":              {"code": int64(500)},
	"unexpected-error-hidden": {"message": "v failed: the log of the operator says why"},
	"emptied-map-is-kept":     {"patched": content{"spec": content{}}},
	"empty-map-is-set":        {"patched": content{"spec": content{"a": int64(1), "e": content{}}}},
	"no-patch-from-validation": {
		"patched": nil, "ops": nil,
	},
	"operations-checked": {"warnings": []any{}, "called": []any{}},
}

func (p *play) compare() {
	want := p.c.Output.(content)
	if p.c.Doubtful {
		p.c.Deviates(p.c.Rule)
		better, known := expected[p.c.Rule]
		if p.c.Rule == "message-without-python" {
			better, known = content{"message": p.message}, true
			assert.Contains(p.t, []string{"v denied the request", "v failed: the log of the operator says why"}, p.message)
		}
		require.True(p.t, known, "the test has to say what holds by the rule %s", p.c.Rule)
		want = vectortest.Over(want, better).(content)
	}
	assert.Equal(p.t, want["allowed"], p.allowed, "allowed")
	assert.Equal(p.t, want["warnings"], p.warnings, "warnings")
	if want["allowed"] == false {
		assert.Equal(p.t, want["code"], p.code, "code")
		assert.Equal(p.t, want["message"], p.message, "message")
	}
	if want["called"] != nil {
		ids := []any{}
		for _, each := range want["called"].([]any) {
			ids = append(ids, each.(content)["id"])
		}
		assert.Equal(p.t, ids, p.called, "called")
	}
	p.comparePatched(want)
}

func (p *play) comparePatched(want content) {
	if want["patched"] == nil {
		assert.Nil(p.t, p.patched, "patched")
		return
	}
	for key, value := range want["patched"].(content) {
		assert.Equal(p.t, value, p.patched.(content)[key], key)
	}
}

func asContent(value any) content {
	inner, _ := value.(content)
	return inner
}
