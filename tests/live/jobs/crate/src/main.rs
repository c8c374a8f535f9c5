// SPDX-License-Identifier: Apache-2.0
fn main() {
    let total: u32 = (1..=10).sum();
    println!("the sum is {total}");
}

#[test]
fn adds() {
    assert_eq!((1..=10).sum::<u32>(), 55);
}
