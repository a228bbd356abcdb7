package conversion

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"

	"github.com/operkit/operkit/reconcile/internal/webhook"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	apijson "k8s.io/apimachinery/pkg/util/json"
)

// review is a ConversionReview of apiextensions.k8s.io/v1.
type review struct {
	metav1.TypeMeta `json:",inline"`

	Request  *asked    `json:"request,omitempty"`
	Response *response `json:"response,omitempty"`
}

type asked struct {
	UID               types.UID         `json:"uid"`
	DesiredAPIVersion string            `json:"desiredAPIVersion"`
	Objects           []json.RawMessage `json:"objects"`
}

type response struct {
	UID              types.UID        `json:"uid"`
	ConvertedObjects []map[string]any `json:"convertedObjects"`
	Result           metav1.Status    `json:"result"`
}

// Path returns the path under which the API server asks for conversions.
func (c *Converter[Hub]) Path() string { return "/convert." + c.hub.GroupKind().String() }

// Handler returns what answers the API server's reviews. It needs nothing but the functions, so it can answer before
// caches are filled: the API server may need it to fill them. It is safe for concurrent use.
func (c *Converter[Hub]) Handler(logger *slog.Logger) http.Handler {
	return webhook.New("convert."+c.hub.GroupKind().String(), logger, func(ctx context.Context, body []byte) (any, error) {
		var r review
		if err := json.Unmarshal(body, &r); err != nil {
			return nil, webhook.Refuse(http.StatusBadRequest, "the body isn't a ConversionReview: %v", err)
		}
		if r.APIVersion != "apiextensions.k8s.io/v1" || r.Kind != "ConversionReview" || r.Request == nil || r.Request.UID == "" {
			return nil, webhook.Refuse(http.StatusBadRequest, "the body is a %s of %s: want a ConversionReview of apiextensions.k8s.io/v1 with a request", r.Kind, r.APIVersion)
		}
		return review{TypeMeta: r.TypeMeta, Response: c.respond(ctx, r.Request, logger)}, nil
	})
}

// respond converts all objects of a request. If one can't be converted, the whole request fails, and the message names
// each object that can't be: the API server takes all or nothing.
func (c *Converter[Hub]) respond(ctx context.Context, r *asked, logger *slog.Logger) *response {
	done := &response{UID: r.UID, ConvertedObjects: []map[string]any{}, Result: metav1.Status{Status: metav1.StatusSuccess}}
	var errs []error
	for _, raw := range r.Objects {
		converted, err := c.convertRaw(raw, r.DesiredAPIVersion)
		if err = errors.Join(err, ctx.Err()); err != nil {
			errs = append(errs, err)
			if ctx.Err() != nil {
				break
			}
			continue
		}
		done.ConvertedObjects = append(done.ConvertedObjects, converted)
	}
	if err := errors.Join(errs...); err != nil {
		if !errors.Is(ctx.Err(), context.Canceled) { // else nobody waits for the answer
			logger.Error("objects can't be converted: whoever reads or writes them gets an error", "kind", c.hub.Kind, "to", r.DesiredAPIVersion, "error", err)
		}
		done.ConvertedObjects = []map[string]any{}
		done.Result = metav1.Status{Status: metav1.StatusFailure, Message: err.Error(), Reason: metav1.StatusReasonInternalError, Code: http.StatusInternalServerError}
	}
	return done
}

func (c *Converter[Hub]) convertRaw(raw json.RawMessage, to string) (map[string]any, error) {
	var content map[string]any
	if err := apijson.Unmarshal(raw, &content); err != nil || content == nil {
		return nil, errors.Join(errors.New("an object of the request isn't one"), err)
	}
	version, err := schema.ParseGroupVersion(to)
	if err != nil || version.Group != c.hub.Group {
		return nil, errors.Join(errors.New("desiredAPIVersion "+to+": the objects are of the group "+c.hub.Group), err)
	}
	converted, err := c.Convert(&unstructured.Unstructured{Object: content}, version.Version)
	if err != nil {
		return nil, err
	}
	return converted.Object, nil
}
