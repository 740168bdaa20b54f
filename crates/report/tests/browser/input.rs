//! Mouse and keyboard as the browser's own events, as if a reader's hand made them.

use crate::browser::Browser;
use serde_json::json;

/// A spot in the window, in CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spot {
    pub x: f64,
    pub y: f64,
}

/// Keys held during an event, as the protocol counts them.
#[derive(Clone, Copy, PartialEq)]
pub enum Held {
    Nothing = 0,
    Shift = 8,
}

impl Browser {
    pub fn move_to(&mut self, spot: Spot) {
        self.mouse("mouseMoved", spot, 0, Held::Nothing);
    }

    pub fn click(&mut self, spot: Spot, modifiers: Held) {
        self.mouse("mousePressed", spot, 1, modifiers);
        self.mouse("mouseReleased", spot, 1, modifiers);
    }

    pub fn double_click(&mut self, spot: Spot) {
        self.click(spot, Held::Nothing);
        self.mouse("mousePressed", spot, 2, Held::Nothing);
        self.mouse("mouseReleased", spot, 2, Held::Nothing);
    }

    /// Presses, moves in a few steps, lets go.
    pub fn drag(&mut self, from: Spot, to: Spot, modifiers: Held) {
        self.mouse("mousePressed", from, 1, modifiers);
        for share in [0.3, 0.7, 1.0] {
            let x = from.x + (to.x - from.x) * share;
            let y = from.y + (to.y - from.y) * share;
            self.mouse("mouseMoved", Spot { x, y }, 1, modifiers);
        }
        self.mouse("mouseReleased", to, 1, modifiers);
    }

    /// Turns the wheel; negative is away from the reader.
    pub fn wheel(&mut self, spot: Spot, turn: i32) {
        let event = json!({
            "type": "mouseWheel", "x": spot.x, "y": spot.y, "deltaX": 0, "deltaY": turn,
        });
        self.call("Input.dispatchMouseEvent", &event);
    }

    fn mouse(&mut self, kind: &str, spot: Spot, clicks: u32, modifiers: Held) {
        let (button, buttons) = match (kind, clicks) {
            (_, 0) => ("none", 0),
            ("mouseReleased", _) => ("left", 0),
            _ => ("left", 1),
        };
        let event = json!({
            "type": kind, "x": spot.x, "y": spot.y, "button": button, "buttons": buttons,
            "clickCount": clicks, "modifiers": modifiers as u8, "pointerType": "mouse",
        });
        self.call("Input.dispatchMouseEvent", &event);
    }

    /// Presses and releases a key by its name: `ArrowLeft`, `Escape`, `o`.
    pub fn key(&mut self, name: &str, modifiers: Held) {
        let mut event = json!({ "type": "keyDown", "key": name, "modifiers": modifiers as u8 });
        if name.chars().count() == 1 {
            event["text"] = json!(name);
        } else if name == "Enter" {
            event["text"] = json!("\r");
        }
        self.call("Input.dispatchKeyEvent", &event);
        let up = json!({ "type": "keyUp", "key": name, "modifiers": modifiers as u8 });
        self.call("Input.dispatchKeyEvent", &up);
    }
}
