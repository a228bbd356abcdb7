package cluster

import (
	"errors"
	"net/http"
	"strconv"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestOwnTrouble(t *testing.T) {
	t.Parallel()
	services := schema.GroupKind{Kind: "Service"}
	invalid := func(errs ...*field.Error) error { return apierrors.NewInvalid(services, "web", errs) }
	address := field.NewPath("spec", "clusterIPs")
	const refused = `failed to allocate IP: Post "https://[::1]:6443/apis/networking.k8s.io/v1/ipaddresses": dial tcp [::1]:6443: connect: connection refused`
	forbids := func(text string) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "services"}, "web", errors.New(text))
	}
	plain := func(code int32, reason metav1.StatusReason, text string) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason, Message: text}}
	}
	for name, row := range map[string]struct {
		err  error
		want bool
	}{
		"422: the allocator can't reach the API server":  {invalid(field.Invalid(address, nil, refused)), true},
		"422: an internal error of a field":              {invalid(field.InternalError(address, errors.New("no more"))), true},
		"422: an internal error beside a mistake":        {invalid(field.Required(address, ""), field.InternalError(address, errors.New("x"))), true},
		"422: the allocator isn't ready":                 {invalid(field.Invalid(address, nil, "failed to allocate IP: cannot allocate resources of type serviceipallocations at this time")), true},
		"422: etcd has no leader":                        {invalid(field.Invalid(address, nil, "etcdserver: leader changed")), true},
		"422: a mistake":                                 {invalid(field.Required(address, "no address")), false},
		"422: a mistake that cites such a text":          {invalid(field.Invalid(address, refused, "not an address")), false},
		"422: a mistake that cites it in a map":          {invalid(field.Invalid(address, map[string]string{"a": refused}, "not an address")), false},
		"403: a policy that isn't loaded yet":            {forbids("not yet ready to handle request"), true},
		"403: a webhook that can't reach what it asks":   {forbids(`admission webhook "x" denied the request: Get "http://registry": dial tcp: lookup registry: no such host`), true},
		"403: a right":                                   {forbids(`User "u" cannot patch resource "services"`), false},
		"403: a policy":                                  {forbids(`ValidatingAdmissionPolicy "p" denied request: no`), false},
		"408":                                            {plain(http.StatusRequestTimeout, "", "x"), true},
		"500 of etcd, without a reason":                  {plain(http.StatusInternalServerError, "", "etcdserver: request timed out"), true},
		"500 of gRPC, without a reason":                  {plain(http.StatusInternalServerError, "", "rpc error: code = Unavailable desc = transport is closing"), true},
		"500: what is stored can't be read":              {plain(http.StatusInternalServerError, metav1.StatusReasonStoreReadError, "x"), true},
		"500 without a sign":                             {plain(http.StatusInternalServerError, "", "weird"), false},
		"500 over a field that doesn't exist":            {plain(http.StatusInternalServerError, "", "failed to create typed patch object (…): i/o timeout"), false},
		"500 over an object that is too large":           {plain(http.StatusInternalServerError, "", "etcdserver: request is too large"), false},
		"502, 504 and 507 whatever they say":             {errors.Join(plain(http.StatusInsufficientStorage, "", "x")), true},
		"400: a body that was cut off is our mistake":    {apierrors.NewBadRequest("unexpected EOF"), false},
		"409: what changed meanwhile is looked at again": {apierrors.NewConflict(schema.GroupResource{}, "web", errors.New("i/o timeout")), false},
		"no answer of an API server":                     {errors.New("i/o timeout"), false},
	} {
		assert.Equal(t, row.want, ownTrouble(row.err), name)
		var unavailable *deploy.UnavailableError
		if row.want {
			assert.ErrorAs(t, typed(t.Context(), row.err, failed{}), &unavailable, name)
		}
	}
}

func FuzzOwnTrouble(f *testing.F) {
	for _, text := range append([]string{"", `"`, "`", `\`, `a "b" c`}, troubles...) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		message := "spec.a: Invalid value: " + strconv.Quote(text) + ": must be a number"
		err := &apierrors.StatusError{ErrStatus: metav1.Status{Code: http.StatusUnprocessableEntity, Reason: metav1.StatusReasonInvalid, Message: message}}
		if ownTrouble(err) && !unknownField(err) {
			t.Errorf("what an object says is taken for a failure: %s", message)
		}
	})
}
