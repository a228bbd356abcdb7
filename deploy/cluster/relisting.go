package cluster

import (
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// mostStreams is how many streams in a row may end before they have brought a whole list.
	mostStreams = 2
	// restless is how many lists in a row are unusual, steady how long a watch goes on after the last one of these
	// until it is believed.
	restless = 4
	steady   = 2 * longestTry
)

var errNoStream = errors.New("lists don't come as streams")

// relists notes that a list begins.
func (i *informer) relists(options metav1.ListOptions) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.relisting = time.Time{}
	if options.ResourceVersion == "" {
		i.relisting = time.Now()
	}
}

// mayStream tells whether a list may be asked for as a stream. The Reflector would ask for one that the API server
// always ends for ever, without a pause; after an error it lists, and pauses.
func (i *informer) mayStream() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.streamed++
	return i.streamed <= mostStreams
}

// watched notes how far the watch has come; mu is held.
func (i *informer) watched(version string) {
	i.version = version
	switch {
	case i.lists < restless:
		i.lists = 0
	case time.Since(i.replaced) > steady:
		i.lists = 0
		i.log().Info("watching again")
	}
}

// interrupted notes that something is wrong that is said in other words: a list is what comes after it.
func (i *informer) interrupted() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.lists < restless {
		i.lists = 0
	}
}

// relisted notes that a list has come; mu is held. That lists follow each other, because watches end at once, is said
// once.
func (i *informer) relisted() {
	if i.lists < restless && time.Since(i.replaced) > longestLook {
		i.lists = 0
	}
	i.replaced, i.streamed = time.Now(), 0
	if i.lists++; i.lists == restless {
		i.log().Warn("watches end at once, listing again and again")
	}
}
