package conversion_test

import (
	"errors"
	"testing"

	"github.com/operkit/operkit/reconcile/conversion"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The versions of a shop. v2 is the hub: a field was renamed, another one moved, a size became a number, and each
// version has a field that the other one lacks.
var (
	v1 = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Shop"}
	v2 = schema.GroupVersionKind{Group: "example.com", Version: "v2", Kind: "Shop"}
	v3 = schema.GroupVersionKind{Group: "example.com", Version: "v3", Kind: "Shop"}
)

type shopV1 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Count  int64  `json:"count"`
		Colour string `json:"colour,omitempty"`
		// Size is small, below 10, or large.
		Size string `json:"size,omitempty"`
		// Motto is in this version only.
		Motto string `json:"motto,omitempty"`
	} `json:"spec"`
	Status struct {
		Open bool `json:"open,omitempty"`
	} `json:"status,omitempty"`
}

type shopV2 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec   specV2 `json:"spec"`
	Status struct {
		Phase string `json:"phase,omitempty"`
	} `json:"status,omitempty"`
}

type specV2 struct {
	Replicas int64             `json:"replicas"`
	Paint    *paint            `json:"paint,omitempty"`
	Metres   int64             `json:"metres,omitempty"`
	Hours    []string          `json:"hours,omitempty"`
	Extra    map[string]string `json:"extra,omitempty"`
}

type paint struct {
	Colour string `json:"colour,omitempty"`
	Gloss  bool   `json:"gloss,omitempty"`
}

// shopV3 has nothing but a number.
type shopV3 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		N int64 `json:"n"`
	} `json:"spec"`
}

func shops(t testing.TB) *conversion.Converter[shopV2] {
	t.Helper()
	c := conversion.New[shopV2](v2)
	conversion.Add(c, v1, conversion.Functions[shopV1, shopV2]{Up: upFromV1, Down: downToV1})
	conversion.Add(c, v3, conversion.Functions[shopV3, shopV2]{
		Up:   func(from *shopV3, to *shopV2) error { to.Spec.Replicas = from.Spec.N; return nil },
		Down: func(from *shopV2, to *shopV3) error { to.Spec.N = from.Spec.Replicas; return nil },
	})
	require.NoError(t, c.Check())
	return c
}

func upFromV1(from *shopV1, to *shopV2) error {
	if from.Spec.Colour == "invisible" {
		return errors.New("spec.colour: it can't be invisible")
	}
	to.Spec.Replicas = from.Spec.Count
	if from.Spec.Colour != "" {
		to.Spec.Paint = &paint{Colour: from.Spec.Colour}
	}
	switch from.Spec.Size {
	case "small":
		to.Spec.Metres = 5
	case "large":
		to.Spec.Metres = 20
	}
	if from.Status.Open {
		to.Status.Phase = "Open"
	}
	return nil
}

func downToV1(from *shopV2, to *shopV1) error {
	to.Spec.Count = from.Spec.Replicas
	if from.Spec.Paint != nil {
		to.Spec.Colour = from.Spec.Paint.Colour
	}
	switch {
	case from.Spec.Metres >= 10:
		to.Spec.Size = "large"
	case from.Spec.Metres > 0:
		to.Spec.Size = "small"
	}
	to.Status.Open = from.Status.Phase == "Open"
	return nil
}

// shop is a shop of a version.
func shop(kind schema.GroupVersionKind, spec, status map[string]any) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "tea", "namespace": "ns", "uid": "u", "annotations": map[string]any{"who": "joe"}},
	}}
	object.SetGroupVersionKind(kind)
	for key, value := range map[string]map[string]any{"spec": spec, "status": status} {
		if value != nil {
			object.Object[key] = value
		}
	}
	return object
}
