// Package definition reads the definitions of controllers whose functions are hooks: the CompositeController and the
// DecoratorController of metacontroller.k8s.io/v1alpha1. Unknown fields and contradictions are errors that name the
// controller and the field.
package definition
