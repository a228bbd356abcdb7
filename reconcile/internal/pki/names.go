package pki

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"unicode/utf8"
)

// Names are the hosts and IP addresses that a server has. Both are sorted, and each is there once.
type Names struct {
	Hosts []string
	IPs   []netip.Addr
}

const (
	longestHost  = 253
	longestLabel = 63
)

// ParseNames sorts names into hosts and IP addresses. Hosts are converted to lower case, and a dot at their end is
// removed. The error names all names that are no hosts and no IP addresses.
func ParseNames(names []string) (Names, error) {
	var parsed Names
	var invalid []error
	for _, name := range names {
		if ip, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")); err == nil {
			if ip.Zone() != "" {
				invalid = append(invalid, fmt.Errorf("%s: an IP address in a certificate has no zone: remove %%%s", name, ip.Zone()))
			}
			parsed.IPs = append(parsed.IPs, ip.Unmap())
			continue
		}
		host := strings.ToLower(strings.TrimSuffix(name, "."))
		if err := checkHost(host); err != nil {
			invalid = append(invalid, fmt.Errorf("%q: %w", name, err))
		}
		parsed.Hosts = append(parsed.Hosts, host)
	}
	if err := errors.Join(invalid...); err != nil {
		return Names{}, err
	}
	slices.Sort(parsed.Hosts)
	slices.SortFunc(parsed.IPs, netip.Addr.Compare)
	parsed.Hosts, parsed.IPs = slices.Compact(parsed.Hosts), slices.Compact(parsed.IPs)
	return parsed, nil
}

// checkHost checks a host in lower case.
func checkHost(host string) error {
	switch {
	case host == "":
		return errors.New("the name is empty")
	case strings.ContainsFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }):
		return errors.New("the name has characters beyond ASCII: write its ASCII form, which begins with xn--")
	case len(host) > longestHost:
		return fmt.Errorf("the name has %d characters: at most %d are allowed", len(host), longestHost)
	}
	labels := strings.Split(host, ".")
	if labels[0] == "*" {
		if labels = labels[1:]; len(labels) < 2 {
			return errors.New("a wildcard needs a domain of two labels at least, as in *.example.com")
		}
	}
	for _, label := range labels {
		if err := checkLabel(label); err != nil {
			return err
		}
	}
	return nil
}

func checkLabel(label string) error {
	switch {
	case label == "":
		return errors.New("two dots without a label between them")
	case len(label) > longestLabel:
		return fmt.Errorf("the label %s has %d characters: at most %d are allowed", label, len(label), longestLabel)
	case strings.Contains(label, "*"):
		return errors.New("a wildcard is allowed only as the whole first label, as in *.example.com")
	case label[0] == '-' || label[len(label)-1] == '-':
		return fmt.Errorf("the label %s begins or ends with a dash", label)
	case strings.ContainsFunc(label, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
	}):
		return fmt.Errorf("the label %q has characters other than letters, digits, - and _", label)
	}
	return nil
}

func (n Names) netIPs() []net.IP {
	ips := make([]net.IP, len(n.IPs))
	for i, ip := range n.IPs {
		ips[i] = ip.AsSlice()
	}
	return ips
}
