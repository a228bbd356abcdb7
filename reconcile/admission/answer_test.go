package admission_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/admission"
	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// thing is a kind with fields that its users may forget.
type thing struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Size   int64  `json:"size"`
		Colour string `json:"colour,omitempty"`
	} `json:"spec"`
}

type thingRequest = admission.Request[thing]

// day is any time.
var day = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// rawThing is a Thing called a1 with a spec.
func rawThing(spec string) runtime.RawExtension {
	return runtime.RawExtension{Raw: fmt.Appendf(nil, `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a1","namespace":"ns","uid":"u"},"spec":%s}`, spec)}
}

// creation is the request to create a Thing.
func creation(spec string) admissionv1.AdmissionRequest {
	return admissionv1.AdmissionRequest{Operation: admission.Create, Name: "a1", Namespace: "ns", Object: rawThing(spec)}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	size := field.NewPath("spec", "size")
	secret := errors.New("dial tcp: password hunter2 refused")
	for _, row := range []struct {
		reason  string
		errs    []error
		code    int32
		as      metav1.StatusReason
		message string
	}{
		{"admission 1: a mistake in a field is answered as the API server does it", []error{field.Invalid(size, 3, "is too small")},
			422, metav1.StatusReasonInvalid, `Thing.example.com "a1" is invalid: spec.size: Invalid value: 3: is too small`},
		{"admission 1: all mistakes in fields are answered together", []error{field.Required(size, ""), field.Forbidden(field.NewPath("spec"), "no")},
			422, metav1.StatusReasonInvalid, `Thing.example.com "a1" is invalid: [spec.size: Required value, spec: Forbidden: no]`},
		{"admission 1: joined mistakes count as several", []error{errors.Join(field.Required(size, ""), field.Duplicate(size, 1))},
			422, metav1.StatusReasonInvalid, `Thing.example.com "a1" is invalid: [spec.size: Required value, spec.size: Duplicate value: 1]`},
		{"admission 1: an aggregate counts as several", []error{field.ErrorList{field.Required(size, ""), field.Duplicate(size, 1)}.ToAggregate()},
			422, metav1.StatusReasonInvalid, `Thing.example.com "a1" is invalid: [spec.size: Required value, spec.size: Duplicate value: 1]`},
		{"admission 1: a wrapped mistake counts", []error{fmt.Errorf("quota: %w", field.Required(size, ""))},
			422, metav1.StatusReasonInvalid, `Thing.example.com "a1" is invalid: spec.size: Required value`},
		{"admission 2: Deny is Forbidden", []error{admission.Deny("not on a %s", "Sunday")}, 403, metav1.StatusReasonForbidden, "not on a Sunday"},
		{"admission 2: an error of the API keeps its code", []error{apierrors.NewConflict(things.GroupVersion().WithResource("things").GroupResource(), "a1", errors.New("taken"))},
			409, metav1.StatusReasonConflict, `Operation cannot be fulfilled on things.example.com "a1": taken`},
		{"admission 2: a mistake of the configuration is the user's", []error{request.Configuration("spec.size: too small")}, 422, metav1.StatusReasonInvalid, "spec.size: too small"},
		{"admission 3: the first denial counts", []error{admission.Deny("one"), admission.Deny("two")}, 403, metav1.StatusReasonForbidden, "one"},
		{"admission 3: a denial counts before a mistake of the program", []error{secret, admission.Deny("two")}, 403, metav1.StatusReasonForbidden, "two"},
		{"admission 3: a denial comes before mistakes in fields if it is the first", []error{admission.Deny("one"), field.Required(size, "")}, 403, metav1.StatusReasonForbidden, "one"},
		{"admission 4: the text of any other error is hidden", []error{secret}, 500, metav1.StatusReasonInternalError, "check-0 failed: the log of the operator says why"},
		{"admission 4: a function that takes too long denies", []error{context.DeadlineExceeded}, 504, metav1.StatusReasonTimeout, "check-0 took too long"},
		{"admission 4: an error that waits shows its text", []error{request.Precondition("no backup yet")}, 500, metav1.StatusReasonInternalError, "no backup yet"},
		{"admission 4: a code that isn't one of an error becomes 500", []error{&apierrors.StatusError{ErrStatus: metav1.Status{Code: 200, Message: "no"}}}, 500, "", "no"},
		{"admission 4: an empty text names the function", []error{&apierrors.StatusError{}}, 500, "", "check-0 denied the request"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			hooks := admission.New[thing](things)
			for i, err := range row.errs {
				hooks.Validate(fmt.Sprintf("check-%d", i), func(context.Context, *thingRequest) error { return err })
			}
			response := ask(t, webhooksOf(t, hooks)[0], creation(`{"size":3}`))
			assert.False(t, response.Allowed)
			require.NotNil(t, response.Result)
			assert.Equal(t, row.message, response.Result.Message)
			assert.Equal(t, row.code, response.Result.Code)
			assert.Equal(t, row.as, response.Result.Reason)
			assert.Equal(t, metav1.StatusFailure, response.Result.Status)
			assert.Nil(t, response.Patch)
		})
	}
}

func TestCauses(t *testing.T) {
	t.Run("admission 1: each mistake in a field is a cause of the answer", func(t *testing.T) {
		hooks := admission.New[thing](things)
		hooks.Validate("size", func(context.Context, *thingRequest) error {
			return field.Required(field.NewPath("spec", "size"), "say how large")
		})
		details := ask(t, webhooksOf(t, hooks)[0], creation(`{}`)).Result.Details
		assert.Equal(t, &metav1.StatusDetails{Group: "example.com", Kind: "Thing", Name: "a1", Causes: []metav1.StatusCause{
			{Type: metav1.CauseTypeFieldValueRequired, Message: "Required value: say how large", Field: "spec.size"},
		}}, details)
	})
}

func TestPanics(t *testing.T) {
	t.Parallel()
	t.Run("admission 5: a panic is HTTP 500, and its text is in the log only", func(t *testing.T) {
		t.Parallel()
		var log testlog.Text
		hooks := admission.New[thing](things)
		hooks.Validate("odd", func(context.Context, *thingRequest) error { panic("hunter2") })
		hooks.Validate("no", func(context.Context, *thingRequest) error { return admission.Deny("no") })
		status, body := post(webhooksOf(t, hooks)[0], reviewOf(t, creation(`{}`)), &log)
		assert.Equal(t, http.StatusInternalServerError, status)
		assert.Equal(t, "webhook validate.thing.example.com: it can't answer: the log of the operator says why\n", string(body))
		assert.Contains(t, log.String(), "hunter2")
		assert.NotContains(t, log.String(), "\n\n", "one line of the log")
	})
}

func TestNobodyWaits(t *testing.T) {
	t.Parallel()
	t.Run("admission 4: nothing is logged when the API server no longer waits", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		var log testlog.Text
		hooks := admission.New[thing](things)
		hooks.Validate("slow", func(ctx context.Context, _ *thingRequest) error {
			cancel()
			<-ctx.Done()
			return ctx.Err()
		})
		webhook := webhooksOf(t, hooks)[0]
		from := httptest.NewRequest(http.MethodPost, webhook.Path(), bytes.NewReader(reviewOf(t, creation(`{}`)))).WithContext(ctx)
		webhook.Handler(slog.New(slog.NewTextHandler(&log, nil))).ServeHTTP(httptest.NewRecorder(), from)
		assert.Empty(t, log.String())
	})
}

func TestRequests(t *testing.T) {
	t.Parallel()
	var got []string
	hooks := admission.New[thing](things)
	hooks.Validate("see", func(_ context.Context, r *thingRequest) error {
		object, old := "none", "none"
		if r.Object != nil {
			object = fmt.Sprint(r.Object.Spec.Size)
		}
		if r.Old != nil {
			old = fmt.Sprint(r.Old.Spec.Size)
		}
		got = append(got, fmt.Sprintf("%s %s object=%s old=%s dry=%t by=%s %v", r.Operation, r.Ref, object, old, r.DryRun, r.User.Username, r.Options()["fieldManager"]))
		r.Warn("%s is old", "size")
		return nil
	}, admission.On(admission.Create, admission.Update, admission.Delete), admission.Subresources("", "scale"))
	webhook := webhooksOf(t, hooks)[0]
	dry := true
	for _, row := range []struct {
		reason string
		asked  admissionv1.AdmissionRequest
		want   string
	}{
		{"admission 6: a creation has an object", creation(`{"size":3}`), "CREATE Thing ns/a1 object=3 old=none dry=false by= <nil>"},
		{"admission 6: an update has both", admissionv1.AdmissionRequest{Operation: admission.Update, Name: "a1", Object: rawThing(`{"size":4}`), OldObject: rawThing(`{"size":3}`)},
			"UPDATE Thing a1 object=4 old=3 dry=false by= <nil>"},
		{"admission 6: a deletion has the old object", admissionv1.AdmissionRequest{Operation: admission.Delete, Name: "a1", OldObject: rawThing(`{"size":3}`)},
			"DELETE Thing a1 object=none old=3 dry=false by= <nil>"},
		{"admission 6: an old object that the type can't hold is left out, so that it can be corrected",
			admissionv1.AdmissionRequest{Operation: admission.Update, Name: "a1", Object: rawThing(`{"size":4}`), OldObject: rawThing(`{"size":"x"}`)},
			"UPDATE Thing a1 object=4 old=none dry=false by= <nil>"},
		{"admission 6: an object of another kind, as of a subresource, is no object of the type",
			admissionv1.AdmissionRequest{Operation: admission.Update, SubResource: "scale", Name: "a1", Object: runtime.RawExtension{Raw: []byte(`{"kind":"Scale"}`)}, DryRun: &dry},
			"UPDATE Thing a1 object=none old=none dry=true by= <nil>"},
		{"admission 6: the name may not be there yet, and options are passed on", admissionv1.AdmissionRequest{Operation: admission.Create, Object: rawThing(`{"size":1}`),
			Options: runtime.RawExtension{Raw: []byte(`{"fieldManager":"joe"}`)}}, "CREATE Thing  object=1 old=none dry=false by= joe"},
	} {
		got = nil
		t.Run(row.reason, func(t *testing.T) {
			response := ask(t, webhook, row.asked)
			assert.True(t, response.Allowed)
			assert.Equal(t, []string{row.want}, got)
			assert.Equal(t, []string{"size is old"}, response.Warnings)
		})
	}
	got = nil
	t.Run("admission 6: an object that the type can't hold is denied, and the answer names the field", func(t *testing.T) {
		response := ask(t, webhook, creation(`{"size":"large"}`))
		assert.False(t, response.Allowed)
		assert.Contains(t, response.Result.Message, "spec.size: ")
		assert.EqualValues(t, http.StatusForbidden, response.Result.Code)
	})
	t.Run("admission 7: a function is called only for its operations and subresources", func(t *testing.T) {
		asked := creation(`{}`)
		asked.SubResource = "status"
		assert.True(t, ask(t, webhook, asked).Allowed)
		asked.SubResource, asked.Operation = "", admission.Connect
		assert.True(t, ask(t, webhook, asked).Allowed)
		assert.Empty(t, got)
	})
}

func TestHostileReviews(t *testing.T) {
	t.Parallel()
	hooks := admission.New[thing](things)
	hooks.Validate("never", func(context.Context, *thingRequest) error { return nil })
	webhook := webhooksOf(t, hooks)[0]
	deep := strings.Repeat(`{"a":`, 20000) + "{}" + strings.Repeat("}", 20000)
	for _, row := range []struct {
		reason, body string
		status       int
		says         string
	}{
		{"nothing", "", 400, "isn't an AdmissionReview"},
		{"no JSON", "size: 3", 400, "isn't an AdmissionReview"},
		{"a list", "[]", 400, "isn't an AdmissionReview"},
		{"another version", `{"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview","request":{"uid":"u"}}`, 400, "want an AdmissionReview of admission.k8s.io/v1"},
		{"another kind", `{"apiVersion":"v1","kind":"Pod"}`, 400, "a Pod of v1"},
		{"no request", `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}`, 400, "no request"},
		{"no uid", `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"kind":{"kind":"Thing"}}}`, 400, "no request with a uid"},
		{"a kind that the webhook isn't about", `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"CREATE","kind":{"group":"apps","version":"v1","kind":"Deployment"},"object":{}}}`, 404, "correct the rules"},
		{"no object", string(reviewOf(t, admissionv1.AdmissionRequest{Operation: admission.Create})), 400, "neither an object nor an oldObject"},
		{"an object that is text", string(reviewOf(t, admissionv1.AdmissionRequest{Operation: admission.Create, Object: runtime.RawExtension{Raw: []byte(`"a"`)}})), 400, "request.object isn't an object"},
		{"deep nesting", strings.Replace(string(reviewOf(t, creation(`{"deep":0}`))), `"deep":0`, `"deep":`+deep, 1), 400, "exceeded max depth"},
		{"ten megabytes", `{"a":"` + strings.Repeat("x", 10<<20) + `"}`, 413, "larger than 8388608 bytes"},
	} {
		t.Run("admission 8: "+row.reason+" is refused", func(t *testing.T) {
			t.Parallel()
			var log testlog.Text
			status, body := post(webhook, []byte(row.body), &log)
			assert.Equal(t, row.status, status)
			assert.Contains(t, string(body), row.says)
			assert.Contains(t, log.String(), "validate.thing.example.com")
		})
	}
}
