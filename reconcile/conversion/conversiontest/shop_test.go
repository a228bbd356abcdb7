package conversiontest_test

import (
	"github.com/operkit/operkit/reconcile/conversion"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The versions of a shop. v2 is the hub.
var (
	v1 = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Shop"}
	v2 = schema.GroupVersionKind{Group: "example.com", Version: "v2", Kind: "Shop"}
	v3 = schema.GroupVersionKind{Group: "example.com", Version: "v3", Kind: "Shop"}
)

type shopV1 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Count  int64             `json:"count"`
		Colour string            `json:"colour,omitempty"`
		Size   string            `json:"size,omitempty"`
		Motto  string            `json:"motto,omitempty"`
		Tags   map[string]string `json:"tags,omitempty"`
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
		Phase string       `json:"phase,omitempty"`
		Since *metav1.Time `json:"since,omitempty"`
	} `json:"status,omitempty"`
}

type specV2 struct {
	Replicas int64                `json:"replicas"`
	Paint    *paint               `json:"paint,omitempty"`
	Metres   float64              `json:"metres,omitempty"`
	Labels   map[string]string    `json:"labels,omitempty"`
	Doors    []door               `json:"doors,omitempty"`
	Memory   *resource.Quantity   `json:"memory,omitempty"`
	Port     intstr.IntOrString   `json:"port,omitempty"`
	Raw      runtime.RawExtension `json:"raw,omitempty"`
	Free     any                  `json:"free,omitempty"`
	Bytes    []byte               `json:"bytes,omitempty"`
	Inner    []specV2             `json:"inner,omitempty"`
}

type paint struct {
	Colour string `json:"colour,omitempty"`
	Gloss  bool   `json:"gloss,omitempty"`
}

type door struct {
	Width float64 `json:"width"`
	Glass *bool   `json:"glass,omitempty"`
}

type shopV3 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		N     int32   `json:"n"`
		Doors []int64 `json:"doors,omitempty"`
	} `json:"spec"`
}

func upFromV1(from *shopV1, to *shopV2) error {
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
	for key, value := range from.Spec.Tags {
		if to.Spec.Labels == nil {
			to.Spec.Labels = map[string]string{}
		}
		to.Spec.Labels[key] = value
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
	to.Spec.Tags = from.Spec.Labels
	to.Status.Open = from.Status.Phase == "Open"
	return nil
}

func upFromV3(from *shopV3, to *shopV2) error {
	to.Spec.Replicas = int64(from.Spec.N)
	for _, width := range from.Spec.Doors {
		to.Spec.Doors = append(to.Spec.Doors, door{Width: float64(width)})
	}
	return nil
}

func downToV3(from *shopV2, to *shopV3) error {
	to.Spec.N = int32(from.Spec.Replicas)
	for _, one := range from.Spec.Doors {
		to.Spec.Doors = append(to.Spec.Doors, int64(one.Width))
	}
	return nil
}

// shops returns a converter with these functions for v1. Those of v3 are right.
func shops(up func(from *shopV1, to *shopV2) error, down func(from *shopV2, to *shopV1) error) *conversion.Converter[shopV2] {
	c := conversion.New[shopV2](v2)
	conversion.Add(c, v1, conversion.Functions[shopV1, shopV2]{Up: up, Down: down})
	conversion.Add(c, v3, conversion.Functions[shopV3, shopV2]{Up: upFromV3, Down: downToV3})
	return c
}
