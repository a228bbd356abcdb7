package settings

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// ParseService returns the name and the port in the setting webhooks.service. usual is the name if the text has none.
func ParseService(text, usual string) (name string, port int32, err error) {
	name, number, hasPort := strings.Cut(text, ":")
	name = cmp.Or(name, usual)
	if problems := validation.IsDNS1035Label(name); len(problems) > 0 {
		return "", 0, fmt.Errorf("%q is no name of a Service: %s", name, strings.Join(problems, ", "))
	}
	if !hasPort {
		return name, 443, nil
	}
	parsed, err := strconv.ParseUint(number, 10, 16)
	if err != nil || parsed == 0 {
		return "", 0, fmt.Errorf("%q is no port: use a number from 1 to 65535", number)
	}
	return name, int32(parsed), nil
}
