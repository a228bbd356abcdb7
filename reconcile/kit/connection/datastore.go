package connection

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/operkit/operkit/reconcile/request"
)

// FromResource returns the Source that a resource describes in spec.datastores.<datastore>[.<name>].connection, as those
// of oper8 do; an empty name means the unnamed one. It returns false if there is none. resource is the whole document,
// which isn't changed; the objects are in its namespace.
//
// The fields are in camelCase or snake_case; others are ignored, and an empty text or null counts as absent:
//
//   - hostname, port and bucketName, or the Secret uriSecret with uriSecretHostnameField, uriSecretPortField and
//     uriSecretBucketnameField;
//   - authSecretName with authSecretUsernameField and authSecretPasswordField, for buckets authSecretAccessKeyField and
//     authSecretSecretKeyField; a user isn't needed;
//   - tlsSecretName and tlsSecretCertField, both or neither.
//
// All mistakes are one request.Configuration that names the fields.
func FromResource(resource map[string]any, datastore, name string) (Source, bool, error) {
	path := "spec.datastores." + datastore
	if name == "connection" {
		return Source{}, false, request.Configuration("%s.connection: a datastore can't be called connection: use another name", path)
	}
	spec, _ := resource["spec"].(map[string]any)
	datastores, _ := spec["datastores"].(map[string]any)
	parent, _ := datastores[datastore].(map[string]any)
	if name != "" {
		parent, _ = parent[name].(map[string]any)
		path += "." + name
	}
	path += ".connection"
	if parent["connection"] == nil {
		return Source{}, false, nil
	}
	content, ok := parent["connection"].(map[string]any)
	if !ok {
		return Source{}, false, request.Configuration("%s: it has to be an object: correct it", path)
	}
	metadata, _ := resource["metadata"].(map[string]any)
	namespace, _ := metadata["namespace"].(string)
	d := described{path: path, content: content}
	source := d.source(namespace)
	if len(d.faults) > 0 {
		slices.Sort(d.faults)
		return Source{}, false, request.Configuration("%s", strings.Join(slices.Compact(d.faults), "; "))
	}
	return source, true, nil
}

// described is a connection of a resource, with the mistakes in it.
type described struct {
	path    string
	content map[string]any
	faults  []string
}

func (d *described) fault(field, what string) {
	d.faults = append(d.faults, d.path+"."+field+": "+what)
}

func (d *described) source(namespace string) Source {
	s := Source{Namespace: namespace, Parts: map[Part]From{}, Require: []Part{Host, Port, Password}}
	if namespace == "" {
		d.fault("connection", "the resource has no namespace, so its Secrets have none")
	}
	uri := d.text("uriSecret")
	for part, fields := range map[Part][2]string{
		Host: {"hostname", "uriSecretHostnameField"}, Port: {"port", "uriSecretPortField"}, Database: {"bucketName", "uriSecretBucketnameField"},
	} {
		key := d.text(fields[1])
		switch {
		case uri != "" && key != "":
			s.Parts[part] = From{Secret: uri, Key: key}
		case d.text(fields[0]) != "":
			d.check(part, fields[0])
			s.Parts[part] = From{Value: d.text(fields[0])}
		case part != Database:
			d.fault(fields[0], "it is missing: set it, or uriSecret and "+fields[1])
		}
	}
	d.credentials(&s)
	secret, cert := d.text("tlsSecretName"), d.text("tlsSecretCertField")
	switch {
	case secret != "" && cert != "":
		s.Parts[CA] = From{Secret: secret, Key: cert}
		s.Require = append(s.Require, CA)
	case secret != "" || cert != "":
		d.fault("tlsSecretName", "set both tlsSecretName and tlsSecretCertField, or neither")
	}
	return s
}

// check checks a value that the resource itself has.
func (d *described) check(part Part, field string) {
	value := d.text(field)
	if _, ok := hostOf(value); part == Host && !ok {
		d.fault(field, "it "+hasToBeHost)
	}
	if _, ok := portOf(value); part == Port && !ok {
		d.fault(field, "it "+hasToBePort)
	}
}

func (d *described) credentials(s *Source) {
	secret := d.text("authSecretName")
	if secret == "" {
		d.fault("authSecretName", "it is missing: set it")
		return
	}
	set := func(part Part, fields ...string) bool {
		for _, field := range fields {
			if key := d.text(field); key != "" {
				s.Parts[part] = From{Secret: secret, Key: key}
				return true
			}
		}
		return false
	}
	if set(Username, "authSecretUsernameField", "authSecretAccessKeyField") {
		s.Require = append(s.Require, Username)
	}
	if !set(Password, "authSecretPasswordField", "authSecretSecretKeyField") {
		d.fault("authSecretPasswordField", "it is missing: set it, or authSecretSecretKeyField for a bucket")
	}
}

// text returns a field by its name in camelCase or in snake_case, as text.
func (d *described) text(field string) string {
	for _, name := range []string{field, snake(field)} {
		switch value := d.content[name].(type) {
		case nil:
		case string:
			if value != "" {
				return value
			}
		case int64:
			return strconv.FormatInt(value, 10)
		case float64:
			if value == math.Trunc(value) {
				return strconv.FormatFloat(value, 'f', 0, 64)
			}
			d.fault(name, "it has to be a whole number or text")
		default:
			d.fault(name, "it has to be a text")
		}
	}
	return ""
}

// snake returns a name in snake_case.
func snake(camel string) string {
	var b strings.Builder
	for _, c := range camel {
		if 'A' <= c && c <= 'Z' {
			b.WriteByte('_')
			c += 'a' - 'A'
		}
		b.WriteRune(c)
	}
	return b.String()
}
