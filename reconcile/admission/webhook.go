package admission

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/operkit/operkit/reconcile/internal/webhook"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Webhook is what the API server asks about the objects of one kind: all validators, or all mutators, of its Hooks.
type Webhook struct {
	name      string
	kind      schema.GroupVersionKind
	mutating  bool
	policy    policy
	functions []*function
}

// Webhooks returns the webhooks of the kind: one that mutates and one that validates, if there are functions for it.
// The error has all mistakes of the registration.
func (h *Hooks[T]) Webhooks() ([]*Webhook, error) {
	if err := h.check(); err != nil {
		return nil, err
	}
	var webhooks []*Webhook
	if len(h.mutators) > 0 {
		webhooks = append(webhooks, &Webhook{"mutate." + h.name(), h.kind, true, h.policy, h.mutators})
	}
	if len(h.validators) > 0 {
		webhooks = append(webhooks, &Webhook{"validate." + h.name(), h.kind, false, h.policy, h.validators})
	}
	return webhooks, nil
}

// Handler returns what answers the API server's reviews. It is safe for concurrent use.
func (w *Webhook) Handler(logger *slog.Logger) http.Handler {
	return webhook.New(w.name, logger, func(ctx context.Context, body []byte) (any, error) {
		asked, err := decodeReview(body)
		if err != nil {
			return nil, err
		}
		response, err := w.respond(ctx, asked, logger)
		if err != nil {
			return nil, err
		}
		return &admissionv1.AdmissionReview{
			TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"}, Response: response,
		}, nil
	})
}
