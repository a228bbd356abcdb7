package admission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/operkit/operkit/reconcile/internal/webhook"
	"github.com/operkit/operkit/reconcile/request"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apijson "k8s.io/apimachinery/pkg/util/json"
)

// call is a request on its way through the functions.
type call struct {
	request *admissionv1.AdmissionRequest
	// object, old and options are nil if the request has none. object is as the last mutator left it, and changed
	// reports whether one has changed it. They are shared: nobody writes into them.
	object, old, options map[string]any
	mutating, changed    bool
	warnings             []string
	logger               *slog.Logger
}

// newCall decodes what is in a request.
func newCall(asked *admissionv1.AdmissionRequest, logger *slog.Logger) (c *call, err error) {
	c = &call{request: asked, logger: logger}
	for _, part := range []struct {
		name    string
		raw     runtime.RawExtension
		content *map[string]any
	}{{"object", asked.Object, &c.object}, {"oldObject", asked.OldObject, &c.old}, {"options", asked.Options, &c.options}} {
		if len(part.raw.Raw) == 0 {
			continue
		}
		if err := apijson.Unmarshal(part.raw.Raw, part.content); err != nil {
			return nil, webhook.Refuse(http.StatusBadRequest, "request.%s isn't an object: %v", part.name, err)
		}
	}
	if c.object == nil && c.old == nil {
		return nil, webhook.Refuse(http.StatusBadRequest, "the request has neither an object nor an oldObject")
	}
	return c, nil
}

// respond calls the functions about a request and returns the response. The error says why there is none.
func (w *Webhook) respond(ctx context.Context, asked *admissionv1.AdmissionRequest, logger *slog.Logger) (*admissionv1.AdmissionResponse, error) {
	if got := schema.GroupVersionKind(asked.Kind); asked.SubResource == "" && asked.Operation != Connect && got != w.kind {
		return nil, webhook.Refuse(http.StatusNotFound, "webhook %s is about %s, and the request about %s: correct the rules of the webhook", w.name, w.kind, got)
	}
	logger = logger.With("webhook", w.name, "object", fmt.Sprintf("%s %s/%s", asked.Kind.Kind, asked.Namespace, asked.Name), "request", string(asked.UID))
	c, err := newCall(asked, logger)
	if err != nil {
		return nil, err
	}
	original := c.object
	c.mutating = w.mutating
	faults := w.run(ctx, c)
	if panics := panicsOf(faults); panics != nil {
		return nil, panics
	}
	response := &admissionv1.AdmissionResponse{UID: asked.UID, Warnings: c.warnings}
	if response.Result = answer(schema.GroupKind{Group: asked.Kind.Group, Kind: asked.Kind.Kind}, asked.Name, faults); response.Result != nil {
		return response, nil
	}
	response.Allowed = true
	if !w.mutating || !c.changed {
		return response, nil
	}
	return response, addPatch(response, original, c.object)
}

// run calls the functions that the request is about, and returns their errors.
func (w *Webhook) run(ctx context.Context, c *call) (faults []fault) {
	logger := c.logger
	for _, f := range w.functions {
		if !f.about(c.request) {
			continue
		}
		c.logger = logger.With("function", f.name)
		after, err := f.call(ctx, c)
		if err == nil && w.mutating && after != nil {
			err = sameIdentity(c.object, after)
		}
		if err != nil {
			if rank(err) == unexpected && !errors.Is(ctx.Err(), context.Canceled) { // else nobody waits for the answer
				c.logger.Error("a function of the admission failed: the request is denied", "error", err)
			}
			if faults = append(faults, fault{f.name, err}); w.mutating {
				return faults
			}
			continue
		}
		if w.mutating && after != nil {
			c.object, c.changed = after, true
		}
	}
	return faults
}

// panicsOf returns the panics among faults as one error, nil if there are none.
func panicsOf(faults []fault) error {
	var errs []error
	for _, f := range faults {
		for _, panicked := range request.Panics(f.err) {
			errs = append(errs, fmt.Errorf("%s: %w", f.function, panicked))
		}
	}
	return errors.Join(errs...)
}

// decodeReview returns the request of a review.
func decodeReview(body []byte) (*admissionv1.AdmissionRequest, error) {
	var review admissionv1.AdmissionReview
	if err := json.Unmarshal(body, &review); err != nil {
		return nil, webhook.Refuse(http.StatusBadRequest, "the body isn't an AdmissionReview: %v", err)
	}
	if review.APIVersion != admissionv1.SchemeGroupVersion.String() || review.Kind != "AdmissionReview" {
		return nil, webhook.Refuse(http.StatusBadRequest, "the body is a %s of %s: want an AdmissionReview of %s", review.Kind, review.APIVersion, admissionv1.SchemeGroupVersion)
	}
	if review.Request == nil || review.Request.UID == "" {
		return nil, webhook.Refuse(http.StatusBadRequest, "the AdmissionReview has no request with a uid")
	}
	return review.Request, nil
}
