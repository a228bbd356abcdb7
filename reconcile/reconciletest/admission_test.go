package reconciletest

import (
	"context"
	"errors"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/admission"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

type anyRequest = admission.Request[unstructured.Unstructured]

// validating returns hooks with one validator about objects of any type.
func validating(kind schema.GroupVersionKind, f admission.Func[unstructured.Unstructured], opts ...admission.Option) *admission.Hooks[unstructured.Unstructured] {
	hooks := admission.New[unstructured.Unstructured](kind)
	hooks.Validate("check", f, opts...)
	return hooks
}

func TestAdmissionOfReconcilers(t *testing.T) {
	t.Parallel()
	configMap := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	t.Run("harness 11: the writes of a controller of sessions are asked about, as those of the operator", func(t *testing.T) {
		t.Parallel()
		var users []string
		closed := true
		h := New(t, market(), Admission(validating(configMap, func(_ context.Context, r *anyRequest) error {
			users = append(users, r.User.Username)
			if closed {
				return admission.Deny("no doors today")
			}
			return nil
		})))
		h.Apply(tea)
		h.RunUntilSettled()
		h.Gone("ConfigMap tea-door")
		assert.Contains(t, h.Condition("Shop tea", "Updating").Message, `admission webhook "validate.configmap.core" denied the request: no doors today`)
		assert.Equal(t, OperatorUser, users[0])
		closed = false
		h.RunUntilSettled()
		h.Advance(60 * 60 * 1e9)
		h.RunUntilSettled()
		h.Ready("Shop tea")
		users = nil
		h.Edit("ConfigMap tea-door", func(door *unstructured.Unstructured) { door.Object["data"] = map[string]any{"sign": "theirs"} })
		assert.Equal(t, []string{TestUser}, users)
		h.RunUntilSettled()
		h.Configured("ConfigMap tea-door")
		h.RunUntilSettled()
		h.Writes(0)
	})
	t.Run("harness 11: a status is written through the webhooks about it", func(t *testing.T) {
		t.Parallel()
		asked := map[string]int{}
		h := New(t, market(), Admission(validating(shops, func(_ context.Context, r *anyRequest) error {
			asked[r.User.Username+" "+string(r.Operation)+" "+r.Subresource]++
			return nil
		}, admission.Subresources("*"), admission.On(admission.Create, admission.Update, admission.Delete))))
		h.Apply(tea)
		h.RunUntilSettled()
		h.Delete("Shop tea")
		h.RunUntilSettled()
		assert.Equal(t, 1, asked["test CREATE "])
		assert.Equal(t, 1, asked["test DELETE "])
		assert.Positive(t, asked[OperatorUser+" UPDATE status"])
	})
}

func TestAdmissionOfTests(t *testing.T) {
	t.Parallel()
	var h *Harness
	shrinks := validating(shops, func(ctx context.Context, r *anyRequest) error {
		// A validator may read: nothing is locked.
		if _, err := h.Cluster().View().List(ctx, shops, "", nil); err != nil {
			return err
		}
		if r.Object == nil {
			return admission.Deny("the last shop stays")
		}
		sign, _, _ := unstructured.NestedString(r.Object.Object, "spec", "sign")
		if sign == "" {
			return field.Required(field.NewPath("spec", "sign"), "")
		}
		r.Warn("signs are going out of fashion")
		return nil
	}, admission.On(admission.Create, admission.Update, admission.Delete))
	h = New(t, market(), Admission(shrinks))
	t.Run("harness 12: what is refused comes back as from an API server", func(t *testing.T) {
		require.NoError(t, h.TryApply(tea))
		err := h.TryEdit("Shop tea", func(shop *unstructured.Unstructured) { delete(shop.Object, "spec") })
		invalid, ok := errors.AsType[*deploy.InvalidError](err)
		require.True(t, ok, "%v", err)
		assert.Equal(t, []deploy.InvalidField{{Field: "spec.sign", Message: "Required value"}}, invalid.Causes)
		server, ok := errors.AsType[*apierrors.StatusError](err)
		require.True(t, ok)
		assert.EqualValues(t, 422, server.ErrStatus.Code)
		assert.Equal(t, metav1.StatusReasonInvalid, server.ErrStatus.Reason)
		err = h.TryDelete("Shop tea")
		assert.True(t, apierrors.IsForbidden(err), "%v", err)
		assert.ErrorContains(t, err, `admission webhook "validate.shop.example.dev" denied the request: the last shop stays`)
		assert.ErrorContains(t, h.TryApply("{apiVersion: example.dev/v1, kind: Shop, metadata: {name: other}}"), "spec.sign: Required value")
		h.Gone("Shop other")
		h.Exists("Shop tea")
	})
	t.Run("harness 13: warnings are recorded until they are read", func(t *testing.T) {
		h.Warnings()
		h.Edit("Shop tea", func(shop *unstructured.Unstructured) { shop.SetLabels(map[string]string{"a": "b"}) })
		assert.Equal(t, []string{"signs are going out of fashion"}, h.Warnings())
		assert.Empty(t, h.Warnings())
		assert.Empty(t, New(t, market()).Warnings())
	})
}

func TestAdmissionMistakes(t *testing.T) {
	t.Parallel()
	allow := func(context.Context, *anyRequest) error { return nil }
	conditional := admission.New[unstructured.Unstructured](shops, admission.If("size", "object.spec.size > 1"), admission.Named("second"))
	conditional.Validate("check", allow)
	wrong := admission.New[unstructured.Unstructured](shops, admission.Named("third"))
	wrong.Validate("check", nil)
	t.Run("harness 10: what the harness can't ask as an API server would is an error at the start", func(t *testing.T) {
		t.Parallel()
		said := try(t, func(t *trial) {
			New(t, market(), Admission(validating(shops, allow), validating(shops, allow), nil), Admission(conditional, wrong))
		})
		for _, text := range []string{
			"option Admission: there are two webhooks validate.shop.example.dev: tell them apart by admission.Named",
			"option Admission: nil hooks",
			"option Admission: webhook validate.shop-second.example.dev has the condition size in CEL, which only an API server can evaluate: test it on a real one (option On)",
			`admission of Shop: "check": nil function`,
		} {
			assert.Contains(t, said, text)
		}
	})
	t.Run("harness 10: on a real cluster webhooks are served there", func(t *testing.T) {
		t.Parallel()
		foreign, err := dryrun.New(dryrun.AnyKind())
		require.NoError(t, err)
		said := try(t, func(t *trial) { New(t, market(), On(foreign, 0), Admission(validating(shops, allow))) })
		assert.Contains(t, said, "on a real cluster: Admission and Conversion need a cluster in memory: serve and register the webhooks there")
	})
}
