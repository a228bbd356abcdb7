package admission_test

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/operkit/operkit/reconcile/admission"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
)

// FuzzReview sends what may be no review: each answer is a refusal that says why, or one to the uid of the request.
func FuzzReview(f *testing.F) {
	const wrapped = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":`
	for _, body := range []string{
		``, `null`, `[]`, `tea`, `{}`, wrapped + `null}`, wrapped + `{"uid":"1"}}`,
		wrapped + `{"uid":"1","kind":{"group":"example.com","version":"v1","kind":"Thing"},"operation":"CREATE","object":{"metadata":{"name":"a"},"spec":{"size":3}}}}`,
		wrapped + `{"uid":"1","kind":{"group":"example.com","version":"v1","kind":"Thing"},"operation":"UPDATE","object":{"spec":[]},"oldObject":3}}`,
		wrapped + `{"uid":"1","kind":{"group":"example.com","version":"v1","kind":"Thing"},"operation":"DELETE","oldObject":{"metadata":[]}}}`,
		`{"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview","request":{"uid":"1"}}`,
		strings.Repeat(`{"a":`, 500) + `1` + strings.Repeat(`}`, 500),
	} {
		f.Add(body)
	}
	hooks := admission.New[thing](things)
	hooks.Validate("any", allow, admission.On(admission.Create, admission.Update, admission.Delete, admission.Connect), admission.Subresources("", "*"))
	hooks.Mutate("any", allow)
	webhooks, err := hooks.Webhooks()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, webhook := range webhooks {
			status, answer := post(webhook, []byte(body), io.Discard)
			if status != http.StatusOK {
				assert.True(t, slices.Contains([]int{http.StatusBadRequest, http.StatusNotFound}, status), "%d %s", status, answer)
				assert.NotEmpty(t, answer)
				continue
			}
			var asked, answered admissionv1.AdmissionReview
			require.NoError(t, json.Unmarshal([]byte(body), &asked))
			require.NoError(t, json.Unmarshal(answer, &answered))
			require.NotNil(t, answered.Response)
			assert.Equal(t, asked.Request.UID, answered.Response.UID)
		}
	})
}
