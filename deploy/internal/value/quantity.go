package value

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"
)

// SameQuantity reports whether two values are quantities of the same amount, such as 1000m and 1.
func SameQuantity(a, b any) bool {
	one, err := resource.ParseQuantity(fmt.Sprint(a))
	if err != nil {
		return false
	}
	other, err := resource.ParseQuantity(fmt.Sprint(b))
	return err == nil && one.Cmp(other) == 0
}

// CanonicalQuantity returns the form in which an API server stores a quantity. It returns nil if value isn't a
// quantity.
func CanonicalQuantity(value any) any {
	quantity, err := resource.ParseQuantity(fmt.Sprint(value))
	if err != nil {
		return nil
	}
	return quantity.String()
}
