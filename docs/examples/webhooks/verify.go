// Package webhook verifies webhook deliveries: Go 1.19 or newer, standard library only.
package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
)

// Tolerance is the allowed difference between the timestamp and now: reject older deliveries (replay attacks).
const Tolerance = 5 * time.Minute

// Event is the body of a delivery. The fields of Data depend on the event kind.
type Event struct {
	ID        string          `json:"id"`
	Event     string          `json:"event"`
	EventID   string          `json:"event_id"`
	Timestamp time.Time       `json:"timestamp"`
	Data      json.RawMessage `json:"data"`
}

// Header is implemented by http.Header.
type Header interface{ Get(name string) string }

// Verify returns the event of a delivery. body is the raw request body.
func Verify(secret string, header Header, body []byte) (*Event, error) {
	timestamp := header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return nil, errors.New("missing or invalid timestamp")
	}
	if age := time.Since(time.Unix(seconds, 0)); age > Tolerance || age < -Tolerance {
		return nil, errors.New("the timestamp is more than five minutes off")
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return nil, errors.New("invalid secret")
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(header.Get("webhook-id") + "." + timestamp + "."))
	mac.Write(body)
	expected := mac.Sum(nil)
	// During a secret rotation there are two signatures, separated by a space.
	for _, signature := range strings.Split(header.Get("webhook-signature"), " ") {
		version, encoded, _ := strings.Cut(signature, ",")
		given, err := base64.StdEncoding.DecodeString(encoded)
		if version == "v1" && err == nil && hmac.Equal(given, expected) {
			event := new(Event)
			return event, json.Unmarshal(body, event)
		}
	}
	return nil, errors.New("no matching signature")
}
