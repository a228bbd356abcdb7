package reconcile

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/operkit/operkit/deploy"
	apijson "k8s.io/apimachinery/pkg/util/json"
)

// Into decodes what Resource returns into target, a pointer to its Go type, which then shares nothing
// with the resource. A field whose value doesn't fit is an error that names it, of the kind
// that Configuration makes; target is worthless then.
func (s *Session) Into(target any) error {
	ref := deploy.RefOf(s.resource)
	if at := reflect.ValueOf(target); at.Kind() != reflect.Pointer || at.IsNil() {
		return fmt.Errorf("%s: can't be decoded into a %T: pass a pointer to its Go type", ref, target)
	}
	// By way of JSON, which refuses numbers that are too large and shares no maps.
	document, err := json.Marshal(s.described.Object)
	if err == nil {
		err = apijson.Unmarshal(document, target)
	}
	var unfit *json.UnmarshalTypeError
	switch {
	case errors.As(err, &unfit):
		return Configuration("%s: %s: %s doesn't fit the type %s: correct it", ref, strings.TrimPrefix(unfit.Field, "."), unfit.Value, unfit.Type)
	case err != nil:
		return Configuration("%s: doesn't fit %T: %w", ref, target, err)
	}
	return nil
}
