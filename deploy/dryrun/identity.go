package dryrun

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// uidPrefix begins the uids made here. They are counted, so that the same calls make the
// same objects.
const uidPrefix = "d72770d0-0000-4000-8000-"

// nextUID returns the uid of the next object that is created.
func (s *storage) nextUID() types.UID {
	return types.UID(fmt.Sprintf("%s%012x", uidPrefix, s.uids+1))
}

// claimUID makes sure that uid isn't made again.
func (s *storage) claimUID(uid types.UID) {
	digits, ok := strings.CutPrefix(string(uid), uidPrefix)
	if !ok {
		return
	}
	if number, err := strconv.ParseUint(digits, 16, 48); err == nil && number > s.uids {
		s.uids = number
	}
}
