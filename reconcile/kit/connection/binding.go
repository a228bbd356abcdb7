package connection

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/operkit/operkit/deploy"
)

// Binding is a connection. Its text, with fmt, has no password. Don't change it; goroutines may share it.
type Binding struct {
	// Host is a name, or an IP address without brackets.
	Host string
	// Port is 0 if there is none.
	Port int
	// Username, Database, Type, Provider and Region are empty if there is none.
	Username, Database, Type, Provider, Region string
	// Password and URI are empty if there is none. A URI isn't made of the other parts: see URL.
	Password, URI Hidden
	// CA is certificates in PEM, nil if there is none.
	CA []byte

	namespace string
	found     map[Part]From
	objects   []deploy.Ref
}

// Objects returns the Secrets and ConfigMaps from which b was read, in a stable order: those whose content the Pods of a
// user of b depend on.
func (b *Binding) Objects() []deploy.Ref { return slices.Clone(b.objects) }

// has reports whether a part is there, whether in a key of its own or in the URI.
func (b *Binding) has(part Part) bool {
	switch part {
	case Host:
		return b.Host != ""
	case Port:
		return b.Port != 0
	case Username:
		return b.Username != ""
	case Password:
		return b.Password.Reveal() != ""
	case Database:
		return b.Database != ""
	}
	_, found := b.found[part]
	return found
}

// Address returns host:port, or the host if there is no port. An IPv6 address is in brackets.
func (b *Binding) Address() string {
	if b.Port != 0 {
		return net.JoinHostPort(b.Host, strconv.Itoa(b.Port))
	}
	if strings.Contains(b.Host, ":") {
		return "[" + b.Host + "]"
	}
	return b.Host
}

// URL returns scheme://user:password@host:port/database with everything escaped. Parts that aren't there are left out.
// Query parameters, such as those for TLS, are the caller's.
func (b *Binding) URL(scheme string) Hidden {
	u := url.URL{Scheme: scheme, Host: b.Address()}
	switch password := b.Password.Reveal(); {
	case password != "":
		u.User = url.UserPassword(b.Username, password)
	case b.Username != "":
		u.User = url.User(b.Username)
	}
	if b.Database != "" {
		u.Path, u.RawPath = "/"+b.Database, "/"+url.PathEscape(b.Database)
	}
	return Hide(u.String())
}

// S3 returns s3,endpoint=URL,accesskey=USERNAME,secretkey=PASSWORD,bucketsuffix=DATABASE, the form in which oper8 gives
// a bucket to programs; scheme is http or https. The form has no escapes: a comma in one of the parts is an error.
func (b *Binding) S3(scheme string) (Hidden, error) {
	for part, value := range map[Part]string{Username: b.Username, Password: b.Password.Reveal(), Database: b.Database} {
		if strings.Contains(value, ",") {
			return Hidden{}, fmt.Errorf("connection: S3: the %s has a comma, which the form can't hold: use another one", part)
		}
	}
	return Hide(fmt.Sprintf("s3,endpoint=%s://%s,accesskey=%s,secretkey=%s,bucketsuffix=%s",
		scheme, b.Address(), b.Username, b.Password.Reveal(), b.Database)), nil
}
