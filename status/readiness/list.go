package readiness

import (
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operkit/operkit/status/internal/condition"
	"github.com/operkit/operkit/status/internal/structs"
)

const (
	reasonList = "IsAList"
	judgeItems = "a list isn't ready or not: judge its items, and put the results together with All"
)

// isList tells whether the object is a list of objects. There are kinds of
// objects whose name ends in List as well, but those have a name of their own
// and no items beside their spec.
func (s *subject) isList() bool {
	if !strings.HasSuffix(s.kind, "List") {
		return false
	}
	_, items := s.document["items"].([]any)
	return items || condition.Text(s.metadata, "name") == ""
}

// isTypedList tells of a Go type, such as corev1.PodList, whether it is a list.
func isTypedList(object any) bool {
	if _, ok := object.(metav1.ListInterface); !ok {
		return false
	}
	value := reflect.ValueOf(object)
	return value.Kind() == reflect.Pointer && !value.IsNil() && structs.Index(value.Type().Elem(), "items") != nil
}
