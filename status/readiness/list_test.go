package readiness_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operkit/operkit/status/readiness"
)

type widgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []widget `json:"items"`
}

func TestLists(t *testing.T) {
	t.Parallel()
	failedPod := `{"apiVersion":"v1","kind":"Pod","status":{"phase":"Failed"}}`
	for _, c := range []struct {
		reason string
		object any
		want   string
	}{
		{"a List", document(t, `{"apiVersion":"v1","kind":"List","items":[`+failedPod+`]}`), "IsAList"},
		{"a list of one kind", &unstructured.Unstructured{Object: document(t, `{"apiVersion":"v1","kind":"PodList","items":[`+failedPod+`]}`)}, "IsAList"},
		{"an empty one", document(t, `{"apiVersion":"v1","kind":"PodList","items":[]}`), "IsAList"},
		{"one without the key of its items", document(t, `{"apiVersion":"v1","kind":"PodList","metadata":{"resourceVersion":"7"}}`), "IsAList"},
		{"an unstructured list", &unstructured.UnstructuredList{Object: document(t, `{"apiVersion":"v1","kind":"PodList"}`), Items: []unstructured.Unstructured{{Object: document(t, failedPod)}}}, "IsAList"},
		{"an empty unstructured list", &unstructured.UnstructuredList{}, "IsAList"},
		{"a typed list", &widgetList{Items: make([]widget, 1)}, "IsAList"},
		{"a typed list that names its kind", &widgetList{TypeMeta: metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "WidgetList"}}, "IsAList"},
		{"no typed list", (*widgetList)(nil), "NotFound"},
		{"an object of a kind that ends so", document(t, `{"apiVersion":"example.com/v1","kind":"GuestList","metadata":{"name":"party"},"spec":{"items":[]}}`), "Present"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			result := readiness.Of(c.object)
			assert.Equal(t, c.want, result.Reason, "%+v", result)
			if c.want == "IsAList" {
				assert.Equal(t, readiness.Unknown, result.State)
			}
		})
	}
}
