package definition

import (
	"cmp"
	"crypto/x509"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// check returns the mistakes of a hook. nil has none.
func (h *Hook) check(at *field.Path) (errs field.ErrorList) {
	if h == nil {
		return nil
	}
	if !slices.Contains([]Version{"", V1, V2}, h.Protocol) {
		errs = append(errs, field.NotSupported(at.Child("version"), h.Protocol, []Version{V1, V2}))
	}
	switch {
	case h.Webhook == nil && h.Exec == nil:
		return append(errs, field.Required(at.Child("webhook"), "say how the hook is called: set webhook or exec"))
	case h.Webhook != nil && h.Exec != nil:
		return append(errs, field.Forbidden(at.Child("exec"), "webhook is set: use one of them"))
	case h.Exec != nil:
		return append(errs, h.Exec.check(at.Child("exec"))...)
	}
	return append(errs, h.Webhook.check(at.Child("webhook"))...)
}

func (w *Webhook) check(at *field.Path) (errs field.ErrorList) {
	if w.URL != "" {
		errs = append(errs, checkURL(at.Child("url"), w.URL)...)
	} else {
		errs = append(errs, w.checkService(at)...)
	}
	if w.Timeout() <= 0 {
		errs = append(errs, field.Invalid(at.Child("timeout"), w.Limit.Duration.String(), "must be positive, such as 10s"))
	}
	if e := w.ETag; e != nil && (e.TimeoutSeconds < 0 || e.CleanupSeconds < 0) {
		errs = append(errs, field.Invalid(at.Child("etag"), "", "the times must not be negative"))
	}
	if !slices.Contains([]string{"", loose, strict}, w.ResponseMode) {
		errs = append(errs, field.NotSupported(at.Child("responseUnMarshallMode"), w.ResponseMode, []string{loose, strict}))
	}
	return append(errs, w.Connection.check(at)...)
}

func checkURL(at *field.Path, text string) (errs field.ErrorList) {
	u, err := url.Parse(text)
	switch {
	case err != nil: // neither the text nor the error is repeated: a password may be in it
		errs = append(errs, field.Invalid(at, "", "must be http://host/path or https://host/path"))
	case u.User != nil:
		errs = append(errs, field.Invalid(at, u.Redacted(), "must not have a password: use basicAuth"))
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		errs = append(errs, field.Invalid(at, text, "must be http://host/path or https://host/path"))
	}
	return errs
}

func (w *Webhook) checkService(at *field.Path) (errs field.ErrorList) {
	s := w.Service
	if s == nil {
		return append(errs, field.Required(at.Child("url"), "set url, or service and path"))
	}
	service := at.Child("service")
	if s.Name == "" {
		errs = append(errs, field.Required(service.Child("name"), "name the Service"))
	}
	if s.Namespace == "" {
		errs = append(errs, field.Required(service.Child("namespace"), "name the namespace of the Service"))
	}
	if s.Port != nil && (*s.Port < 1 || *s.Port > 65535) {
		errs = append(errs, field.Invalid(service.Child("port"), *s.Port, "must be from 1 to 65535"))
	}
	if s.Protocol != nil && *s.Protocol != "http" && *s.Protocol != "https" {
		errs = append(errs, field.NotSupported(service.Child("protocol"), *s.Protocol, []string{"http", "https"}))
	}
	if !strings.HasPrefix(w.Path, "/") {
		errs = append(errs, field.Invalid(at.Child("path"), w.Path, "must begin with a slash, such as /sync"))
	}
	return errs
}

// Address returns the URL of the hook.
func (w *Webhook) Address() string {
	if w.URL != "" {
		return w.URL
	}
	scheme, port := "http", int32(80)
	if w.Service.Protocol != nil {
		scheme = *w.Service.Protocol
	}
	if w.Service.Port != nil {
		port = *w.Service.Port
	}
	return fmt.Sprintf("%s://%s.%s:%d%s", scheme, w.Service.Name, w.Service.Namespace, port, w.Path)
}

// ConnectionOf returns the Connection of a webhook: its own one, or that of the endpoint with its host.
func (c *Common) ConnectionOf(w *Webhook) Connection {
	if !w.Connection.isZero() {
		return w.Connection
	}
	address, err := url.Parse(w.Address())
	if err != nil {
		return Connection{}
	}
	for _, endpoint := range c.Endpoints {
		if endpoint.matches(address) {
			return endpoint.Connection
		}
	}
	return Connection{}
}

// matches reports whether an address is at the endpoint. Without a port, the endpoint is at the usual one of the
// address's scheme.
func (e *Endpoint) matches(address *url.URL) bool {
	usual := "80"
	if address.Scheme == "https" {
		usual = "443"
	}
	name, port, err := net.SplitHostPort(e.Host)
	if err != nil {
		name, port = e.Host, usual
	}
	return strings.EqualFold(name, address.Hostname()) && port == cmp.Or(address.Port(), usual)
}

func (e *Endpoint) check(at *field.Path) (errs field.ErrorList) {
	if e.Host == "" {
		errs = append(errs, field.Required(at.Child("host"), "set a host, or a host and a port"))
	} else if name, port, err := net.SplitHostPort(e.Host); strings.ContainsAny(e.Host, "/ ") || err == nil && (name == "" || !isPort(port)) {
		errs = append(errs, field.Invalid(at.Child("host"), e.Host, "must be a host, or a host and a port"))
	}
	if e.Connection.isZero() {
		errs = append(errs, field.Required(at, "set caBundle, clientTLS, authorization or basicAuth"))
	}
	return append(errs, e.Connection.check(at)...)
}

func isPort(text string) bool {
	port, err := strconv.Atoi(text)
	return err == nil && port > 0 && port < 1<<16
}

func (c *Connection) check(at *field.Path) (errs field.ErrorList) {
	if c.CA != nil {
		errs = append(errs, c.CA.check(at.Child("caBundle"))...)
	}
	if c.ClientTLS != nil {
		errs = append(errs, c.ClientTLS.Secret.check(at.Child("clientTLS", "secretRef"))...)
	}
	if a := c.Authorization; a != nil {
		errs = append(errs, a.Secret.check(at.Child("authorization", "secretRef"), true)...)
		if strings.EqualFold(a.Type, "basic") {
			errs = append(errs, field.Invalid(at.Child("authorization", "type"), a.Type, "use basicAuth"))
		}
		if strings.ContainsAny(a.Type, " \t\r\n:") {
			errs = append(errs, field.Invalid(at.Child("authorization", "type"), a.Type, "must be one word, such as Bearer"))
		}
	}
	if c.Basic != nil {
		errs = append(errs, c.Basic.Secret.check(at.Child("basicAuth", "secretRef"))...)
	}
	if c.Authorization != nil && c.Basic != nil {
		errs = append(errs, field.Forbidden(at.Child("basicAuth"), "authorization is set: use one of them"))
	}
	return errs
}

func (c *CA) check(at *field.Path) (errs field.ErrorList) {
	set := 0
	if c.Inline != nil {
		set++
		if !x509.NewCertPool().AppendCertsFromPEM([]byte(*c.Inline)) {
			errs = append(errs, field.Invalid(at.Child("inline"), "", "has no certificate in PEM"))
		}
	}
	if c.Secret != nil {
		set++
		errs = append(errs, c.Secret.check(at.Child("secretRef"), false)...)
	}
	if c.ConfigMap != nil {
		set++
		errs = append(errs, c.ConfigMap.check(at.Child("configMapRef"), false)...)
	}
	if set != 1 {
		errs = append(errs, field.Invalid(at, "", "set one of inline, secretRef and configMapRef"))
	}
	return errs
}

// check returns the mistakes of a reference. needsKey: the key has no default.
func (k *KeyRef) check(at *field.Path, needsKey bool) field.ErrorList {
	errs := SecretRef{k.Name, k.Namespace}.check(at)
	if k.Key == "" && needsKey {
		errs = append(errs, field.Required(at.Child("key"), "name the key"))
	}
	return errs
}

func (s SecretRef) check(at *field.Path) (errs field.ErrorList) {
	if s.Name == "" {
		errs = append(errs, field.Required(at.Child("name"), "name the object"))
	}
	if s.Namespace == "" {
		errs = append(errs, field.Required(at.Child("namespace"), "name the namespace of the object"))
	}
	return errs
}
